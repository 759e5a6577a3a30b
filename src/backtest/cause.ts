import { causeOf, foundAlive, sharedCarriers } from "../alerting/incident-summary.ts";
import { assetTypeAttribute, type ValueCounts } from "../evidence/attribution.ts";
import { evidenceOf, type SpikeFacts } from "../evidence/enrichment.ts";
import { attributionSlices, quietSlices } from "../evidence/quiet-days.ts";
import { spikeWindow } from "../spike/window.ts";
import { deathsBySet, type EventRecord } from "./event-record.ts";
import type { ReplayedIncident } from "./incidents.ts";
import { evaluate, type Watched } from "./replay.ts";

/**
 * Returns what the daemon's words say of an incident's cause (words/headline.ts), by the daemon's rules, from what each
 * alert's last notification that it fires or got worse would have told. Nobody has judged or looked at anything here.
 */
export function causeOfIncident(
  { family, told, isOneCause }: ReplayedIncident,
  { organizations }: { readonly organizations: readonly { readonly watched: Watched }[] },
  records: ReadonlyMap<string, EventRecord>,
) {
  const lastTold = new Map(
    told.filter(({ event }) => event === "firing" || event === "escalated").map((one) => [one.alertId, one]),
  );
  const members = [...lastTold.values()].flatMap(({ slug, atMs }) => {
    const watched = organizations.find((one) => one.watched.slug === slug)?.watched;
    const record = records.get(slug);
    return watched === undefined || record === undefined ? [] : [{ found: foundAt(record, atMs, watched) }];
  });
  const [carriers, secondOpinion] = [sharedCarriers(members), null];
  return {
    likelyCause: causeOf({ family, secondOpinion }, members, carriers),
    carrier: family === "deaths" ? (carriers[0] ?? null) : null,
    foundAlive: foundAlive(members),
    secondOpinion,
    isOneCause,
    // Files often have no attributes: that no cause stands out would be more than is known.
    isSeen: false,
  };
}

function foundAt(record: EventRecord, nowMs: number, watched: Watched) {
  const { counts, expected } = evaluate(record, nowMs, watched, record.seenAtMs[0] ?? null);
  const unknown = { onsetAtMs: null, marker: null, opinion: null, excess: null };
  const { carriers, revived, cause } = evidenceOf({ ...factsAt(record, nowMs, watched), ...unknown }).evidence;
  const deaths = { count: counts.currentCount, expected: expected.expectedCount };
  return { deaths, carriers, revived, cause, error: null };
}

/** Counts the window's deaths by type and attribute, beside those of the quiet days before. */
function factsAt(
  record: EventRecord,
  nowMs: number,
  { thresholds, count }: Watched,
): Pick<SpikeFacts, "counts" | "regret"> {
  const { windowStartMs, endMs } = spikeWindow(nowMs, thresholds);
  const { bySet, deaths, regret } = deathsBySet(record, { afterMs: windowStartMs, untilMs: endMs }, count);
  const { sets } = record;
  if (sets === null) return { counts: null, regret };
  const slices = attributionSlices(windowStartMs);
  const days = slices.map((slice) => deathsBySet(record, slice, count));
  const ask = { thresholds, firstEventAtMs: record.seenAtMs[0] ?? null };
  const quiet = quietSlices(
    slices,
    days.map((day) => day.deaths),
    ask,
  );
  const baseline = days.filter((_, index) => quiet.some((slice) => slice === slices[index]));
  const values = new Map<string, ValueCounts>();
  const add = (some: typeof bySet, key: "currentCount" | "baselineCount"): void => {
    for (const [set, more] of some)
      for (const [attribute, value] of sets[set] ?? []) {
        const name = JSON.stringify([attribute, value]);
        const known = values.get(name) ?? { attribute, value, currentCount: 0, baselineCount: 0 };
        values.set(name, { ...known, [key]: known[key] + more });
      }
  };
  add(bySet, "currentCount");
  for (const day of baseline) add(day.bySet, "baselineCount");
  const isAttributed = (set: number): boolean =>
    sets[set]?.some(([attribute]) => attribute !== assetTypeAttribute) ?? false;
  return {
    regret,
    counts: {
      currentCount: deaths,
      baselineCount: baseline.reduce((sum, day) => sum + day.deaths, 0),
      attributedCount: bySet.entries().reduce((sum, [set, some]) => sum + (isAttributed(set) ? some : 0), 0),
      values: [...values.values()],
    },
  };
}

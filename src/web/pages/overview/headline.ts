import { formatCount } from "../../../base/numbers.ts";
import type { Severity } from "../../../contract/severity.ts";
import { countOf } from "../../../words/numbers.ts";
import type { Overview, OverviewRow } from "../../read/overview.ts";
import { shownSeverities } from "../marks.ts";
import { headline } from "../../../words/headline.ts";

/** Returns how many organizations have which severity. */
export function countSeverities(rows: readonly OverviewRow[]): Readonly<Record<Severity, number>> {
  const counts = { fail: 0, warn: 0, unknown: 0, ok: 0 };
  for (const { severity } of rows) counts[severity]++;
  return counts;
}

/** Returns what holds, in sentences: the first that is true of what is open, else of what is left, else that all is well. */
export function overviewSentences(overview: Overview): readonly string[] {
  const { rows, open, unfinished } = overview;
  if (rows.length === 0) return ["No organization is watched yet."];
  const [first] = open;
  if (first !== undefined) {
    const sentences = headline(first.headline, overview.nowMs);
    const isOfPlatform = first.incident.family === "unreachable";
    if (open.length > 1 && !isOfPlatform) return [`${formatCount(open.length)} incidents are open.`, sentences[0]];
    return sentences;
  }
  const waiting = rows.filter(({ isWaiting }) => isWaiting).length;
  if (waiting === rows.length)
    return [`${countOf(waiting, "organization")} ${waiting === 1 ? "waits" : "wait"} for the first run.`];
  const spiking = spikingSentence(overview);
  if (spiking !== null) return [spiking];
  const unknown = rows.filter(({ severity, isWaiting }) => severity === "unknown" && !isWaiting).length;
  if (unknown + waiting > 0) return unknownSentences(unknown, waiting, rows.length);
  const others = othersSentence(rows);
  if (others !== null) return [others];
  const ok = rows.length === 1 ? "The one organization is ok" : `All ${formatCount(rows.length)} organizations are ok`;
  const left = leftWords(unfinished);
  return [`${ok}${left === null ? "" : `; ${left}`}.`];
}

/** What spikes and is told to nobody: it is pending, or silenced. */
function spikingSentence({ rows }: Overview): string | null {
  const spiking = rows.filter(
    ({ severity, others }) => (severity === "fail" || severity === "warn") && others.length === 0,
  );
  if (spiking.length === 0) return null;
  const pending = spiking.filter(({ state }) => state === "pending").length;
  const silenced = spiking.filter(({ state }) => state === "silenced").length;
  const parts = [
    pending === 0 ? "" : `${formatCount(pending)} ${pending === 1 ? "is" : "are"} pending`,
    silenced === 0 ? "" : `${formatCount(silenced)} ${silenced === 1 ? "is" : "are"} silenced`,
  ].filter((part) => part !== "");
  const what = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return `${formatCount(spiking.length)} of ${countOf(rows.length, "organization")} ${spiking.length === 1 ? "spikes" : "spike"}${what}.`;
}

/** What is not known of some, and what is of the others. */
function unknownSentences(unknown: number, waiting: number, all: number): string[] {
  const known = all - unknown - waiting;
  const of = `of ${countOf(all, "organization")}`;
  return [
    ...(unknown === 0 ? [] : [`${formatCount(unknown)} ${of} could not be checked.`]),
    ...(waiting === 0 ? [] : [`${formatCount(waiting)} ${of} ${waiting === 1 ? "waits" : "wait"} for the first run.`]),
    ...(known === 0 ? [] : [known === 1 ? "The other one is ok." : "The others are ok."]),
  ];
}

/** What holds beside spikes: the one check that is not ok, or how many organizations have one. */
function othersSentence(rows: readonly OverviewRow[]): string | null {
  const bad = rows.flatMap(({ slug, others }) => others.map(({ check, severity }) => ({ slug, check, severity })));
  const [first] = bad;
  if (first === undefined) return null;
  const verbs = { fail: "fails", warn: "warns", unknown: "could not be run", ok: "is ok" } as const;
  if (bad.length === 1)
    return `No organization spikes. The check ${first.check} of ${first.slug} ${verbs[first.severity]}.`;
  const count = new Set(bad.map(({ slug }) => slug)).size;
  return `No organization spikes. Other checks of ${countOf(count, "organization")} are not ok.`;
}

/** "takedowns of 45 organizations are still on hold: 5 incidents need a judgement"; null: nothing is left. */
export function leftWords({ gates, incidents }: Overview["unfinished"]): string | null {
  const judged = `${countOf(incidents.size, "incident")} ${incidents.size === 1 ? "needs" : "need"} a judgement`;
  if (gates.size === 0) return incidents.size === 0 ? null : judged;
  const held = `takedowns of ${countOf(gates.size, "organization")} are still on hold`;
  return incidents.size === 0 ? held : `${held}: ${judged}`;
}

/** Returns the title of the document. */
export function overviewTitle({ rows, open, nowMs }: Overview): string {
  const counts = countSeverities(rows);
  const bad = shownSeverities.filter((severity) => severity !== "ok" && counts[severity] > 0);
  const [worst] = bad;
  const first = open[0];
  if (first !== undefined) return `${first.summary.severity}: ${headline(first.headline, nowMs)[0]}`;
  return worst === undefined ? "flatline" : `${worst}: ${formatCount(counts[worst])} of ${formatCount(rows.length)}`;
}

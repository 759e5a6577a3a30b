import { formatCount } from "../../../base/numbers.ts";
import type { Severity } from "../../../contract/severity.ts";
import { countOf } from "../../../words/numbers.ts";
import type { OrganizationRow, Overview } from "../../read/overview.ts";
import { shownSeverities } from "../html.ts";
import { headline } from "../../../words/headline.ts";

/** Returns the number of organizations for each severity. */
export function countSeverities(rows: readonly OrganizationRow[]): Readonly<Record<Severity, number>> {
  const counts = { fail: 0, warn: 0, unknown: 0, ok: 0 };
  for (const { severity } of rows) counts[severity]++;
  return counts;
}

/** Returns the headline: the first open incident, else the organizations that are not ok, else that all are. */
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
  const states = rows.map(stateOf);
  const bad = Object.entries(stateVerbs).flatMap(([state, [one, several]]) => {
    const count = states.filter((own) => own === state).length;
    return count === 0 ? [] : [{ count, verb: count === 1 ? one : several }];
  });
  const ok = states.filter((state) => state === null).length;
  if (bad.length === 0) {
    const all = ok === 1 ? "The one organization is ok" : `All ${formatCount(ok)} organizations are ok`;
    const left = leftWords(unfinished);
    return [`${all}${left === null ? "" : `; ${left}`}.`];
  }
  const all = countOf(rows.length, "organization");
  const parts = bad.map(({ count, verb }, index) =>
    index > 0
      ? `${formatCount(count)} ${verb}`
      : `${count === rows.length ? "" : `${formatCount(count)} of `}${all} ${verb}`,
  );
  return [`${parts.join(", ")}.`, ...(ok === 0 ? [] : [ok === 1 ? "The other one is ok." : "The others are ok."])];
}

/** The words for one organization and for several, while no incident is open. */
const stateVerbs = {
  spiking: ["spikes", "spike"],
  pending: ["spikes and is pending", "spike and are pending"],
  silenced: ["spikes and is silenced", "spike and are silenced"],
  acknowledged: ["spikes and is acknowledged", "spike and are acknowledged"],
  eventless: ["has sent no event yet", "have sent no event yet"],
  unknown: ["could not be checked", "could not be checked"],
  other: ["has another check that is not ok", "have another check that is not ok"],
  waiting: ["waits for the first run", "wait for the first run"],
} as const;

/** null: it is ok. */
function stateOf({ spike, state, others, isWaiting, hasNoEvents }: OrganizationRow): keyof typeof stateVerbs | null {
  if (isWaiting) return "waiting";
  if (spike === "unknown") return hasNoEvents ? "eventless" : "unknown";
  if (spike !== "ok") return state ?? "spiking";
  return others.length > 0 ? "other" : null;
}

/** Returns a clause such as "takedowns of 45 organizations are still on hold"; null: nothing is left to do. */
export function leftWords({ gates, incidents }: Overview["unfinished"]): string | null {
  const judged = `${countOf(incidents.size, "incident")} ${incidents.size === 1 ? "needs" : "need"} a judgement`;
  if (gates.size === 0) return incidents.size === 0 ? null : judged;
  const held = `takedowns of ${countOf(gates.size, "organization")} are still on hold`;
  return incidents.size === 0 ? held : `${held}: ${judged}`;
}

/** Returns the document's title. */
export function overviewTitle({ rows, open, nowMs }: Overview): string {
  const counts = countSeverities(rows);
  const bad = shownSeverities.filter((severity) => severity !== "ok" && counts[severity] > 0);
  const [worst] = bad;
  const first = open[0];
  if (first !== undefined) return `${first.summary.severity}: ${headline(first.headline, nowMs)[0]}`;
  return worst === undefined ? "flatline" : `${worst}: ${formatCount(counts[worst])} of ${formatCount(rows.length)}`;
}

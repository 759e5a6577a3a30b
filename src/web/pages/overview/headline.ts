import { formatCount } from "../../../base/numbers.ts";
import type { Severity } from "../../../contract/severity.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import type { Overview, OverviewRow } from "../../read/overview.ts";
import { shownSeverities } from "../marks.ts";
import { incidentSentences, isAlone, listSentence } from "../incidents/sentences.ts";

/** Returns how many organizations have which severity. */
export function countSeverities(rows: readonly OverviewRow[]): Readonly<Record<Severity, number>> {
  const counts = { fail: 0, warn: 0, unknown: 0, ok: 0 };
  for (const { severity } of rows) counts[severity]++;
  return counts;
}

/** Returns what holds, in sentences: the first that is true of what is open, else of what is left, else that all is well. */
export function overviewSentences(overview: Overview, withPeople: boolean): readonly string[] {
  const { rows, open, unfinished } = overview;
  if (rows.length === 0) return ["No organization is watched yet."];
  const [first] = open;
  if (first !== undefined) {
    if (first.incident.family === "unreachable") return incidentSentences(first, withPeople);
    if (open.length > 1) {
      const largest = listSentence(first).replace("began to spike ", "");
      return [`${formatCount(open.length)} incidents are open.`, `The largest: ${largest}.`];
    }
    if (!isAlone(first) || first.incident.family !== "deaths") return incidentSentences(first, withPeople);
    return [...incidentSentences(first, withPeople), ...othersAreOk(rows)];
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
  const left = leftSentence(unfinished);
  return [allOk(rows.length), ...(left === null ? flatSentence(overview) : [left])];
}

function allOk(count: number): string {
  return count === 1 ? "The one organization is ok." : `All ${formatCount(count)} organizations are ok.`;
}

function othersAreOk(rows: readonly OverviewRow[]): string[] {
  const others = rows.length - 1;
  const bad = rows.filter(({ severity }) => severity !== "ok").length - 1;
  if (others === 0 || bad > 0) return [];
  return [others === 1 ? "The other one is ok." : `The other ${formatCount(others)} are ok.`];
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

/** "126 gates are still shut and 165 alerts not judged."; null: nothing is left. */
export function leftSentence({ gates, unjudged }: Overview["unfinished"]): string | null {
  const shut = gates.size === 0 ? "" : `${countOf(gates.size, "gate")} ${gates.size === 1 ? "is" : "are"} still shut`;
  const open =
    unjudged === 0
      ? ""
      : `${countOf(unjudged, "alert")}${shut === "" ? ` ${unjudged === 1 ? "is" : "are"}` : ""} not judged`;
  const parts = [shut, open].filter((part) => part !== "");
  return parts.length === 0 ? null : `${parts.join(" and ")}.`;
}

function flatSentence({ rows, nowMs }: Overview): string[] {
  const since = rows.flatMap(({ sinceMs }) => sinceMs ?? []);
  if (since.length < rows.length) return [];
  return [`Flat for ${durationText(nowMs - Math.max(...since))}.`];
}

/** Returns the title of the document. */
export function overviewTitle({ rows, open }: Overview): string {
  const counts = countSeverities(rows);
  const bad = shownSeverities.filter((severity) => severity !== "ok" && counts[severity] > 0);
  const [worst] = bad;
  const first = open[0];
  if (first !== undefined) return `${first.summary.severity}: ${listSentence(first)}`;
  return worst === undefined ? "flatline" : `${worst}: ${formatCount(counts[worst])} of ${formatCount(rows.length)}`;
}

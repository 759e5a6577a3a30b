import { formatCount, formatExpected, formatRatio } from "../../../base/numbers.ts";
import { countOf, formatLengthInProse, formatShare, nbsp } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark, rowSeverities, type RowSeverity } from "../parts/marks.ts";
import { shownSeverity, writeQuery, type RowData, type RowQuery } from "./row.ts";
import { renderBand, verdictSentence, type FleetVerdict } from "./verdict.ts";

/** Everything above the table: the fleet as a whole. Times are epoch ms. */
export interface FleetData {
  /** Organizations that fire, silenced ones too, and those with a result: as in `flatline_fleet_*`. */
  readonly spiking: number;
  readonly withResult: number;
  /** From how many on there is a verdict; null: none is ever given. */
  readonly from: number | null;
  readonly verdict: FleetVerdict | null;
  /** Organizations spiking in each hour of the last seven days, oldest first; null: no result. */
  readonly trace: readonly (number | null)[];
  /** Share of the organizations whose past has been read, 0–1. */
  readonly pastShare: number;
  /** In which of these hours a verdict held. */
  readonly traceVerdicts: readonly boolean[];
  /** Since when everything is ok; null: since before the history, or it is not. */
  readonly flatSinceMs: number | null;
}

/** Returns how many organizations have which severity. */
export function countSeverities(
  rows: readonly Pick<RowData, "severity" | "others">[],
): Readonly<Record<RowSeverity, number>> {
  const counts = { fail: 0, warn: 0, unknown: 0, ok: 0 };
  for (const row of rows) counts[shownSeverity(row)]++;
  return counts;
}

/** Returns the one sentence that says what holds. */
export function fleetSentence(rows: readonly RowData[], fleet: FleetData, nowMs: number): string {
  if (fleet.verdict !== null) return verdictSentence(fleet.verdict, fleet);
  const counts = countSeverities(rows.map((row) => ({ ...row, others: [] })));
  const all = rows.length;
  const spiking = counts.fail + counts.warn;
  const others = othersSentence(rows);
  if (spiking > 0) {
    const parts = [
      counts.fail > 0 ? `${formatCount(counts.fail)} fail` : "",
      counts.warn > 0 ? `${formatCount(counts.warn)} warn` : "",
    ];
    const unknown = counts.unknown > 0 ? ` ${formatCount(counts.unknown)} could not be checked.` : "";
    return `${formatCount(spiking)} of ${countOf(all, "organization")} ${spiking === 1 ? "spikes" : "spike"}: ${parts.filter(Boolean).join(", ")}.${unknown}${others}`;
  }
  const waiting = rows.filter(({ severity }) => severity === null).length;
  if (waiting === all && all > 0)
    return `${countOf(all, "organization")} ${all === 1 ? "waits" : "wait"} for the first run.`;
  if (counts.unknown > 0) {
    const rest = others === "" ? (counts.ok === 0 ? "" : ` The others are ok.`) : others;
    return `${formatCount(counts.unknown)} of ${formatCount(all)} could not be checked.${rest}`;
  }
  if (others !== "") return `${all === 1 ? "No spike" : "No organization spikes"}.${others}`;
  const flat = fleet.flatSinceMs === null ? "" : ` Flat for ${formatLengthInProse(nowMs - fleet.flatSinceMs)}.`;
  return all === 1 ? `The one organization is ok.${flat}` : `All ${formatCount(all)} organizations are ok.${flat}`;
}

const otherVerbs = { fail: "fails", warn: "warns", unknown: "could not be run" } as const;

/** What holds beside spikes: the one check that is not ok, or how many organizations have one. */
function othersSentence(rows: readonly RowData[]): string {
  // An organization that could not be checked is listed with that alone.
  const checks = rows.flatMap(({ slug, severity: own, others }) =>
    others
      .filter(({ severity }) => own !== "unknown" || severity !== "unknown")
      .map(({ check, severity }) => ({ slug, check, severity })),
  );
  const [first] = checks;
  if (first === undefined) return "";
  if (checks.length === 1) return ` The check ${first.check} of ${first.slug} ${otherVerbs[first.severity]}.`;
  const organizations = new Set(checks.map(({ slug }) => slug)).size;
  const names = [...Map.groupBy(checks, ({ check }) => check)].map(([check, { length }]) => `${check} ${length}`);
  return ` Other checks are not ok for ${countOf(organizations, "organization")}: ${names.join(", ")}.`;
}

/** Renders the heading: the verdict as a banner while it holds, else the sentence alone. */
export function renderVerdict(rows: readonly RowData[], fleet: FleetData, nowMs: number): Html {
  if (rows.length === 0)
    return html`<h1 class="sentence">No organization is configured.</h1>
      <p class="why">Add one under <code>organizations</code> in flatline.yaml, then reload.</p>`;
  const sentence = fleetSentence(rows, fleet, nowMs);
  const { verdict } = fleet;
  if (verdict === null) return html`<h1 class="sentence">${sentence}</h1>`;
  return renderBand(sentence, whyText(rows, fleet, verdict), verdict, nowMs);
}

function whyText(rows: readonly RowData[], fleet: FleetData, verdict: FleetVerdict): Html {
  const hot = rows.filter((row) => row.severity === "fail" || row.severity === "warn");
  const counted = sum(hot.map(({ count }) => count));
  const expected = sum(hot.map((row) => row.expected));
  const times = expected > 0 ? ` (${formatRatio(counted / expected)})` : "";
  const window = sameWindow(rows);
  return html`Together they count ${formatCount(counted)} deaths${window === null ? "" : ` in ${window}${nbsp}h`}
    against ${formatExpected(expected)} expected${times}.<br />${
      verdict.by === "chance"
        ? html`By chance that does not happen: look for the one cause before anything acts on these deaths.`
        : html`Attackers do not leave ${countOf(fleet.spiking, "organization")} on one day: treat these deaths as wrong
          until the checker is cleared.`
    }`;
}

/** Returns the window that all of them count over, hours; null when they differ. */
export function sameWindow(rows: readonly RowData[]): number | null {
  const hours = rows[0]?.windowHours ?? null;
  return rows.every((row) => row.windowHours === hours) ? hours : null;
}

/** Four links that filter. */
export function renderCounters(rows: readonly RowData[], query: RowQuery): Html {
  const counts = countSeverities(rows);
  const counters = rowSeverities.map((severity) => {
    const isOn = query.severities.includes(severity);
    const severities = isOn ? query.severities.filter((one) => one !== severity) : [...query.severities, severity];
    const href = writeQuery({ ...query, severities: rowSeverities.filter((one) => severities.includes(one)) });
    return html`<a
      class="counter${counts[severity] === 0 ? " zero" : ""}"
      href="${href}"
      data-severity="${severity}"
      ${isOn ? html` aria-current="true"` : nothing}
      >${mark(severity)} <b>${formatCount(counts[severity])}</b> ${severity}</a
    >`;
  });
  return html`<nav class="counters" aria-label="Filter by severity">${counters}</nav>
    ${renderStrip(counts)}`;
}

const namedUnwatched = 3;

/** Slugs that send events and that no organization has, those with the most events first; nothing where there is none. */
export function renderUnwatched({
  items,
  more: omitted,
}: {
  readonly items: readonly { readonly slug: string; readonly events: number }[];
  readonly more: number;
}): Html {
  if (items.length === 0) return nothing;
  const count = items.length + omitted;
  const most = items.toSorted((left, right) => right.events - left.events);
  const named = most.slice(0, namedUnwatched).map(({ slug, events }, index) => {
    const unit = index === 0 ? ` ${events === 1 ? "event" : "events"}` : "";
    return html`${index === 0 ? nothing : ", "}<b>${slug}</b> ${formatCount(events)}${unit}`;
  });
  const more = count - named.length;
  const one = count === 1;
  return html`<p class="unwatched">
    Not watched: ${countOf(count, "slug")} ${one ? "sends" : "send"} events and nothing checks ${one ? "it" : "them"}:
    ${named}${more > 0 ? ` and ${formatCount(more)} more` : ""}.
  </p>`;
}

/** Renders the proportions, as widths of an SVG: a strict policy drops styles of elements. */
export function renderStrip(counts: Readonly<Record<RowSeverity, number>>, stripWidth = 1_200): Html {
  const present = rowSeverities.filter((severity) => counts[severity] > 0);
  const total = sum(present.map((severity) => counts[severity]));
  const free = stripWidth - 2 * Math.max(0, present.length - 1) - 4 * present.length;
  let x = 0;
  const segments = present.map((severity) => {
    const width = Math.round((4 + (free * counts[severity]) / total) * 10) / 10;
    const segment = html`<rect
      class="seg ${severity}"
      x="${x + (severity === "ok" ? 0.5 : 0)}"
      y="${severity === "ok" ? 0.5 : 0}"
      width="${Math.max(1, width - (severity === "ok" ? 1 : 0))}"
      height="${severity === "ok" ? 7 : 8}"
    />`;
    x += width + 2;
    return segment;
  });
  return html`<svg
    class="strip"
    width="${stripWidth}"
    viewBox="0 0 ${stripWidth} 8"
    height="8"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${segments}
  </svg>`;
}

const traceWidth = 1_200;
const traceHeight = 40;

/** Renders the rule under the masthead: how many organizations spiked, each hour of seven days. */
export function renderTrace(fleet: FleetData): Html {
  const { trace, from } = fleet;
  const peak = Math.max(0, fleet.spiking, ...trace.map((count) => count ?? 0));
  const top = Math.max(peak * 1.05, (from ?? 3) * 1.3, 1);
  const y = (value: number): number => Math.round((traceHeight - 2 - (value / top) * (traceHeight - 5)) * 10) / 10;
  const step = traceWidth / Math.max(1, trace.length);
  const line: string[] = [];
  const hot: string[] = [];
  // Hours without a result: a hairline, not the trace, which would say that no organization spiked.
  const none: string[] = [];
  let last: number | null = null;
  for (const [index, count] of trace.entries()) {
    const [x0, x1] = [Math.round(index * step * 10) / 10, Math.round((index + 1) * step * 10) / 10];
    if (count === null) {
      none.push(`M${x0} ${y(0)}H${x1}`);
      last = null;
      continue;
    }
    const now = y(count);
    line.push(last === null ? `M${x0} ${now}` : now === last ? "" : `V${now}`, `H${x1}`);
    if (fleet.traceVerdicts[index] === true) hot.push(`M${x0} ${last ?? now}V${now}H${x1}`);
    last = now;
  }
  const verdictLine = from === null ? nothing : html`<path class="from" d="M0 ${y(from)}H${traceWidth}" />`;
  return html`<div class="trace"><svg viewBox="0 0 ${traceWidth} ${traceHeight}" height="${traceHeight}" preserveAspectRatio="none" aria-hidden="true">${verdictLine}${none.length === 0 ? nothing : html`<path class="none" d="${none.join("")}" />`}${line.length === 0 ? nothing : html`<path class="line" d="${line.join("")}" />`}${hot.length === 0 ? nothing : html`<path class="hot" d="${hot.join("")}" />`}</svg>
<p class="caption"><span class="cap-what">organizations spiking, last 7 days${fleet.pastShare < 1 ? `: reading the past, ${formatShare(Math.floor(fleet.pastShare * 100) / 100)}` : ""}</span> <span class="cap-now">${from === null ? nothing : html`<span class="cap-from">fleet verdict from ${formatCount(from)}</span> `}<b${fleet.verdict === null ? nothing : html` class="fail"`}>${fleet.spiking === 0 && fleet.trace.every((count) => count === null) ? "no result yet" : `${formatCount(fleet.spiking)} now`}</b></span></p></div>`;
}

/** Returns the title of the document. */
export function overviewTitle(rows: readonly RowData[], fleet: FleetData): string {
  if (fleet.verdict !== null) return `${formatCount(fleet.spiking)} of ${formatCount(fleet.withResult)} spiking`;
  const spiking = rows.filter(({ severity }) => severity === "fail" || severity === "warn").length;
  if (spiking > 0) return `${formatCount(spiking)} of ${formatCount(rows.length)} spiking`;
  const others = rows.filter((row) => row.others.length > 0).length;
  return others > 0 ? `${formatCount(others)} of ${formatCount(rows.length)} not ok` : "flatline";
}

/** Returns the worst that the favicon shows. */
export function worstOf(rows: readonly RowData[]): RowSeverity {
  const counts = countSeverities(rows);
  return rowSeverities.find((severity) => counts[severity] > 0 && severity !== "ok") ?? "ok";
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}

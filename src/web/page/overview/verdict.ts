import { breakAddresses } from "../../../base/broken-address.ts";
import { verdictWords } from "../../../contract/fleet/verdict-words.ts";
import type { FleetEvidence } from "../../../contract/fleet/evidence.ts";
import { formatCount } from "../../../base/numbers.ts";
import { countOf, formatLengthInProse, formatShare } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "../parts/marks.ts";
import { renderNotified, type Notified } from "../parts/notified.ts";
import { renderTime } from "../../parts/time.ts";
import { organizationPath } from "./row.ts";

/** What is said of a fleet verdict. Times are epoch ms. */
export type FleetVerdict = {
  /** How it was found, and within how long they began. */
  readonly by: "chance" | "ratio";
  readonly withinMs: number;
  readonly evidence: FleetEvidence;
  /** When what fires reached the bounds, as far as it was recorded. */
  readonly detectedAtMs: number | null;
  readonly assetTypes: readonly { readonly assetType: string; readonly share: number }[];
  readonly notified: Notified;
  /** Members that are not acknowledged, and those that are not judged. */
  readonly open: { readonly unacknowledged: number; readonly unjudged: number };
  /** Members whose gate is shut; null: none. */
  readonly held: { readonly organizations: number; readonly sinceMs: number } | null;
} & (
  | { readonly stage: "sent" }
  /** No receiver is to be notified: all is silenced, acknowledged or routed nowhere. */
  | { readonly stage: "silent" }
);

/** "300 of 2,000 organizations spike at once. Suspect the liveness checker." */
export function verdictSentence(
  { by, withinMs }: Pick<FleetVerdict, "by" | "withinMs">,
  { spiking, withResult }: { readonly spiking: number; readonly withResult: number },
): string {
  if (by === "chance") return `${verdictWords({ by, spiking, withinMs, organizations: withResult })}.`;
  return `${formatCount(spiking)} of ${countOf(withResult, "organization")} ${spiking === 1 ? "spikes" : "spike"} at once. Suspect the liveness checker.`;
}

/** Renders the band: the sentence, what it means, and the facts behind it. */
export function renderBand(sentence: string, why: Html, verdict: FleetVerdict, nowMs: number): Html {
  return html`<section class="verdict" aria-labelledby="verdict">
    <div>
      <h1 class="sentence" id="verdict">
        ${sentence.split(/(?<=[.]) /).map((one, index) => html`<span class="whole">${index === 0 ? html`${mark("fail", 20)} ` : nothing}${one}</span> `)}
      </h1>
      <p class="why">${why}</p>
      ${renderFleetActs(verdict)}
    </div>
    <dl class="facts">
      ${factsOf(verdict, nowMs).map(
        ([name, value]) =>
          html`<div class="fact${briefFacts.has(name) ? "" : " more"}">
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

/** For all members at once: who is on it, what was it. The next right thing is the black one. */
function renderFleetActs({ open, held }: FleetVerdict): Html {
  const { unacknowledged, unjudged } = open;
  return html`<p class="fleetacts" data-members>
    ${unacknowledged === 0 ? nothing : html`<button type="button" class="primary" data-bulk="acknowledge">Acknowledge ${formatCount(unacknowledged)}&hellip;</button>`}
    ${unjudged === 0 ? nothing : html`<button type="button" ${unacknowledged === 0 ? html`class="primary"` : nothing} data-bulk="judge">Judge ${formatCount(unjudged)}&hellip;</button>`}
    ${held === null ? nothing : html`<button type="button" data-bulk="release">Release ${formatCount(held.organizations)}&hellip;</button>`}
  </p>`;
}

// What a phone shows above the rows.
const briefFacts: ReadonlySet<string> = new Set(["Began", "Notified", "Held"]);

function factsOf(verdict: FleetVerdict, nowMs: number): (readonly [string, Html])[] {
  const { evidence, detectedAtMs, assetTypes, held } = verdict;
  const { beganAtMs, first, markers, undone } = evidence;
  const facts: (readonly [string, Html])[] = [];
  if (beganAtMs !== null) {
    const earliest =
      first === null
        ? nothing
        : html`median; the first, <a href="${organizationPath(first.slug)}">${first.slug}</a>,
            ${renderTime(first.atMs, nowMs)}`;
    facts.push(["Began", html`${renderTime(beganAtMs, nowMs)} <span class="wraps-inline detail">${earliest}</span>`]);
  }
  if (markers.length > 0)
    facts.push([
      markers.length === 1 ? "Marker" : "Markers",
      html`${markers.map(({ text, atMs }, index) => html`${index === 0 ? nothing : html`<br />`}${breakAddresses(text)} <span class="detail">${renderTime(atMs, nowMs)}${distanceText(atMs, beganAtMs)}</span>`)}`,
    ]);
  if (detectedAtMs !== null) {
    const after = beganAtMs === null || detectedAtMs < beganAtMs ? "" : formatLengthInProse(detectedAtMs - beganAtMs);
    facts.push([
      "Detected",
      html`${renderTime(detectedAtMs, nowMs)}${after === "" ? nothing : html` <span class="detail">${after} after it began</span>`}`,
    ]);
  }
  facts.push(["Notified", notifiedText(verdict, nowMs)]);
  if (held !== null)
    facts.push([
      "Held",
      html`${countOf(held.organizations, "organization")}
        <span class="detail">since ${renderTime(held.sinceMs, nowMs)}</span>`,
    ]);
  if (undone !== null)
    facts.push([
      "Undone",
      html`${formatShare(undone.share)} of the deaths <span class="detail">were found alive again</span>`,
    ]);
  if (assetTypes.length > 0)
    facts.push([
      "Carried by",
      html`${assetTypes.slice(0, 3).map(({ assetType, share }, index) => html`${index > 0 ? ", " : ""}<span class="${index === 0 ? "first" : "detail"}">${assetType} ${formatShare(share)}</span>`)}`,
    ]);
  return facts;
}

/** ", 18 min before": how long before the begin something was marked. */
function distanceText(atMs: number, beganAtMs: number | null): string {
  if (beganAtMs === null) return "";
  const beforeMs = beganAtMs - atMs;
  return `, ${formatLengthInProse(Math.abs(beforeMs))} ${beforeMs < 0 ? "after" : "before"}`;
}

function notifiedText(verdict: FleetVerdict, nowMs: number): Html {
  if (verdict.stage === "sent") return renderNotified(verdict.notified, nowMs);
  return html`<span class="wraps detail">nobody: its alerts are silenced, acknowledged or for no receiver</span>`;
}

import { durationText, timeText } from "../../../words/numbers.ts";
import { html, type Html } from "../../parts/html.ts";
import type { OrganizationFacts } from "../../read/organization.ts";
import { renderSection } from "../table.ts";

/** Renders the facts of an organization, on its page and on an incident that has no other member. */
export function renderAbout(facts: OrganizationFacts): Html {
  const { slug, nowMs, firstEventMs, labels, discoveredBy, expecting, receivers } = facts;
  const names = Object.entries(labels).map(([name, value]) => `${name} ${value}`);
  const told = receivers?.map(({ name, afterMs }) => (afterMs === 0 ? name : `${name} after ${durationText(afterMs)}`));
  const first = firstEventMs !== null && `${timeText(firstEventMs, nowMs)}, ${durationText(nowMs - firstEventMs)} ago`;
  const all: readonly (readonly [name: string, text: Html | string | false])[] = [
    ["First event", first],
    ["Labels", names.join(" · ") || "none"],
    ["Discovered by", discoveredBy !== null && html`<code>${discoveredBy}</code>`],
    // A mean counts an incident's deaths as usual ones (docs/detection.md).
    [
      "Baseline",
      expecting !== null &&
        html`has the deaths of incident <a href="/incidents/${expecting.incident}">${expecting.incident}</a> until
          ${timeText(expecting.untilMs, nowMs)}; <code>baseline: median</code> forgets them`,
    ],
    ["Told", told !== undefined && (told.join(", ") || "nobody")],
  ];
  const list = all.map(([name, text]) =>
    text === false
      ? null
      : html`<dt>${name}</dt>
          <dd>${text}</dd>`,
  );
  return renderSection(`About ${slug}`, html`<dl class="facts">${list}</dl>`, { id: "about" });
}

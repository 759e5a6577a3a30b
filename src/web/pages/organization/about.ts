import { durationText, timeText } from "../../../words/numbers.ts";
import { html, type Html } from "../../parts/html.ts";
import type { OrganizationFacts } from "../../read/organization.ts";
import { renderSection } from "../table.ts";

/** Renders what an organization is: on its own page, and in place of the members of an incident that is of it alone. */
export function renderAbout(facts: OrganizationFacts): Html {
  const { slug, nowMs, firstEventMs, labels, discoveredBy, expecting, receivers } = facts;
  const names = Object.entries(labels).map(([name, value]) => `${name} ${value}`);
  const told = receivers?.map(({ name, afterMs }) => (afterMs === 0 ? name : `${name} after ${durationText(afterMs)}`));
  const first = firstEventMs !== null && `${timeText(firstEventMs, nowMs)}, ${durationText(nowMs - firstEventMs)} ago`;
  const all: readonly (readonly [name: string, text: Html | string | false])[] = [
    ["First event", first],
    ["Labels", names.join(" · ") || "none"],
    ["Discovered by", discoveredBy !== null && html`<code>${discoveredBy}</code>`],
    // A mean takes the deaths of an incident for usual (docs/detection.md).
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

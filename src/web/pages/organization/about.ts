import { formatCount, formatExpected, formatRatio } from "../../../base/numbers.ts";
import { durationText, timeText } from "../../../words/numbers.ts";
import { html, type Html } from "../../parts/html.ts";
import type { OrganizationFacts } from "../../read/organization.ts";
import { renderSection } from "../table.ts";

type Fact = readonly [name: string, text: Html | string];

/** Renders what an organization is: on its own page, and in place of the members of an incident that is of it alone. */
export function renderAbout(facts: OrganizationFacts): Html {
  const { slug, nowMs, firstEventMs, labels, discoveredBy } = facts;
  const names = Object.entries(labels).map(([name, value]) => `${name} ${value}`);
  const all: readonly Fact[] = [
    ...(firstEventMs === null
      ? []
      : [["First event", `${timeText(firstEventMs, nowMs)}, ${durationText(nowMs - firstEventMs)} ago`] as const]),
    ["Labels", names.join(" · ") || "none"],
    ...(discoveredBy === null ? [] : [["Discovered by", html`<code>${discoveredBy}</code>`] as const]),
    ...ruleFact(facts),
    ...expectingFact(facts),
    ...toldFact(facts),
  ];
  const list = all.map(
    ([name, text]) =>
      html`<dt>${name}</dt>
        <dd>${text}</dd>`,
  );
  return renderSection(`About ${slug}`, html`<dl class="facts">${list}</dl>`, { id: "about" });
}

/** What the rule makes of a past that is too short: said once, and nowhere else. */
function ruleFact({ isThin, checks }: OrganizationFacts): readonly Fact[] {
  const { expectedCount = null, currentCount = null, baselineCount = null } = checks[0]?.counts ?? {};
  if (!isThin || expectedCount === null || currentCount === null) return [];
  const from = baselineCount === null ? "" : `, from ${formatCount(baselineCount)} before`;
  const ratio = expectedCount === 0 ? "" : `: ${formatRatio(currentCount / expectedCount)}`;
  return [["By the rule", `${formatExpected(expectedCount)} expected${from}${ratio}`]];
}

/** A mean takes the deaths of an incident for usual (docs/detection.md). */
function expectingFact({ expecting, nowMs }: OrganizationFacts): readonly Fact[] {
  if (expecting === null) return [];
  const { incident, untilMs } = expecting;
  const text = html`has the deaths of incident <a href="/incidents/${incident}">${incident}</a> until
    ${timeText(untilMs, nowMs)}; <code>baseline: median</code> forgets them`;
  return [["Baseline", text]];
}

function toldFact({ receivers }: OrganizationFacts): readonly Fact[] {
  if (receivers === null) return [];
  const now = receivers.filter(({ afterMs }) => afterMs === 0).map(({ name }) => name);
  const later = receivers
    .filter(({ afterMs }) => afterMs > 0)
    .map(({ name, afterMs }) => `${name} after ${durationText(afterMs)}`);
  return [["Told", [...(now.length === 0 ? [] : [now.join(", ")]), ...later].join("; ") || "nobody"]];
}

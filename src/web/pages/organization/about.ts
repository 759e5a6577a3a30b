import { formatCount, formatExpected, formatRatio } from "../../../base/numbers.ts";
import { durationText, timeText } from "../../../words/numbers.ts";
import { html, type Html } from "../../parts/html.ts";
import type { OrganizationFacts } from "../../read/organization.ts";
import { renderSection, renderTable } from "../table.ts";

type Fact = readonly [name: string, text: Html | string];

/** Renders what an organization is: on its own page. */
export function renderAbout(facts: OrganizationFacts): Html {
  return renderFacts(facts, [...knownFacts(facts), ...expectingFact(facts), ...toldFacts(facts)]);
}

/** Renders the same in place of the members of an incident that is of it alone; `number` is the incident's. */
export function renderAboutInIncident(facts: OrganizationFacts, number: number): Html {
  const { settings, incidents, checks } = facts;
  const own = settings.filter(({ value, usual }) => value !== usual);
  const before = incidents.filter(({ incident }) => incident.number < number);
  const others = checks.slice(1);
  const bad = others.filter(({ severity }) => severity !== "ok" && severity !== null);
  const words = own.map(({ name, value }, index) => html`${index === 0 ? "" : " · "}<code>${name}</code> ${value}`);
  return renderFacts(facts, [
    ...knownFacts(facts),
    [
      "Settings",
      own.length === 0
        ? `all ${settings.length} are the defaults`
        : html`${own.length} of ${settings.length} differ: ${words}`,
    ],
    ["Incidents before", before.length === 0 ? "none" : listed(before.map(({ incident }) => incident.number))],
    [
      "Other healthchecks",
      others.length === 0
        ? "none"
        : bad.length === 0
          ? `${others.length}, ${others.length === 1 ? "ok" : "all ok"}`
          : bad.map(({ check, severity }) => `${check} ${severity ?? ""}`).join(", "),
    ],
    ...ruleFact(facts),
    ...toldFacts(facts),
  ]);
}

function renderFacts({ slug }: OrganizationFacts, all: readonly Fact[]): Html {
  const list = all.map(
    ([name, text]) =>
      html`<dt>${name}</dt>
        <dd>${text}</dd>`,
  );
  return renderSection(`About ${slug}`, html`<dl class="facts">${list}</dl>`, { id: "about" });
}

function knownFacts({ nowMs, firstEventMs, labels, discoveredBy }: OrganizationFacts): readonly Fact[] {
  const names = Object.entries(labels).map(([name, value]) => `${name} ${value}`);
  const facts: Fact[] = [["Labels", names.length === 0 ? "none" : names.join(" · ")]];
  if (firstEventMs !== null) {
    const ago = durationText(nowMs - firstEventMs);
    facts.unshift(["First event", `${timeText(firstEventMs, nowMs)}, ${ago} ago`]);
  }
  if (discoveredBy !== null) facts.push(["Discovered by", html`<code>${discoveredBy}</code>`]);
  return facts;
}

/** A mean takes the deaths of an incident for usual (docs/detection.md). */
function expectingFact({ expecting, nowMs }: OrganizationFacts): readonly Fact[] {
  if (expecting === null) return [];
  const { incident, untilMs } = expecting;
  const text = html`has the deaths of incident <a href="/incidents/${incident}">${incident}</a> until
    ${timeText(untilMs, nowMs)}; <code>baseline: median</code> forgets them`;
  return [["Baseline", text]];
}

function toldFacts({ receivers }: OrganizationFacts): readonly Fact[] {
  if (receivers === null) return [];
  const now = receivers.filter(({ afterMs }) => afterMs === 0).map(({ name }) => name);
  const later = receivers
    .filter(({ afterMs }) => afterMs > 0)
    .map(({ name, afterMs }) => `${name} after ${durationText(afterMs)}`);
  const all = [now.length === 0 ? "" : now.join(", "), ...later].filter((one) => one !== "");
  return [["Told", all.length === 0 ? "nobody" : all.join("; ")]];
}

/** What the rule makes of a past that is too short: said once, and nowhere else. */
function ruleFact({ isThin, checks }: OrganizationFacts): readonly Fact[] {
  const counts = checks[0]?.counts ?? null;
  if (!isThin || counts === null || counts.expectedCount === null || counts.currentCount === null) return [];
  const { expectedCount, currentCount, baselineCount } = counts;
  const from = baselineCount === null ? "" : `, from ${formatCount(baselineCount)} before`;
  const ratio = expectedCount === 0 ? "" : `: ${formatRatio(currentCount / expectedCount)}`;
  return [["By the rule", `${formatExpected(expectedCount)} expected${from}${ratio}`]];
}

function listed(numbers: readonly number[]): Html {
  return html`${numbers.map((number, index) => html`${index === 0 ? "" : ", "}<a href="/incidents/${number}">${number}</a>`)}`;
}

/** Renders the settings that differ from the defaults. */
export function renderSettings({ settings }: OrganizationFacts): Html {
  const own = settings.filter(({ value, usual }) => value !== usual);
  const beside = html`<p>${own.length} of ${settings.length}</p>`;
  if (own.length === 0)
    return renderSection("Settings that differ", html`<p class="second">All are the defaults.</p>`, { beside });
  const rows = own.map(
    ({ name, value, usual }) =>
      html`<tr>
        <td><code>${name}</code></td>
        <td>
          <code><b>${value}</b></code>
        </td>
        <td class="second">${usual === null ? "–" : html`<code>${usual}</code>`}</td>
      </tr>`,
  );
  const table = renderTable("", [{ name: "Setting" }, { name: "Value" }, { name: "Default" }], rows);
  return renderSection("Settings that differ", table, { beside });
}

import { formatCompactCount, formatCount, formatExpected } from "../../../base/numbers.ts";
import { formatRatioCell } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark, rowSeverities, type RowSeverity } from "../parts/marks.ts";
import { pickCell } from "../parts/picking.ts";
import { countSeverities, renderStrip } from "./fleet.ts";
import { renderRow, shownSeverity, writeQuery, type RowData, type RowQuery } from "./row.ts";

/** The rows that have one value of what the table is grouped by; value null: those that have none. */
interface RowGroup {
  readonly value: string | null;
  readonly rows: readonly RowData[];
}

// A label with more values than this identifies organizations, it does not group them.
const mostValues = 60;
const mostLabels = 3;
const shownRows = 6;
// Without a filter that would find the rest.
const mostRows = 100;
const openAtFirst = 2;
const columns = 10;

/** Returns what the table can be grouped by: up to three labels, the most common first, and the severity. */
export function groupings(rows: readonly RowData[]): string[] {
  const values = new Map<string, { readonly values: Set<string>; count: number }>();
  for (const { labels } of rows)
    for (const label of labels) {
      const name = label.slice(0, label.indexOf(" "));
      const known = values.get(name) ?? { values: new Set(), count: 0 };
      known.values.add(label);
      known.count++;
      values.set(name, known);
    }
  const common = [...values]
    .filter(([name, known]) => known.values.size <= mostValues && name !== "severity")
    .toSorted(([left, a], [right, b]) => b.count - a.count || (left < right ? -1 : 1));
  return [...common.slice(0, mostLabels).map(([name]) => name), "severity"];
}

/** Renders the links that choose what the table is grouped by. */
export function renderGroupBy(rows: readonly RowData[], query: RowQuery): Html {
  const names = groupings(rows);
  if (names.length === 1 && query.group === undefined) return nothing;
  const { group: _group, open: _open, ...plain } = query;
  const link = (name: string, href: string, isOn: boolean): Html =>
    html`<a href="${href}" data-ask${isOn ? html` aria-current="true"` : nothing}>${name}</a>`;
  return html`<span>Group by</span>
    <nav class="switch" aria-label="Group by">
      ${link("none", writeQuery(plain), query.group === undefined)}${names.map((name) => link(name, writeQuery({ ...plain, group: name }), query.group === name))}
    </nav>`;
}

/** Renders the rows of the table in groups, each with its sums; those with failures first. */
export function renderGroups(found: readonly RowData[], query: RowQuery, nowMs: number): Html {
  const by = query.group ?? "severity";
  const groups = groupsOf(found, by);
  const failing = groups.filter(({ rows }) => rows.some((row) => shownSeverity(row) === "fail"));
  const open = query.open ?? failing.slice(0, openAtFirst).map((group) => keyOf(group));
  let index = 0;
  return html`${groups.map((group) => {
    const isOpen = open.includes(keyOf(group));
    const rows = isOpen ? rowsShown(group, by) : [];
    const head = renderGroup(group, by, open, query);
    const lines = rows.map((row) => renderRow(row, nowMs, ++index));
    return html`${head}${lines}${isOpen ? renderRest(group, rows, by, query) : nothing}`;
  })}`;
}

/** Returns the rows of a group as the table has it, by its key in the address. */
export function rowsOfGroup(
  found: readonly RowData[],
  { group }: Pick<RowQuery, "group">,
  key: string,
): readonly RowData[] {
  return groupsOf(found, group ?? "severity").find((one) => keyOf(one) === key)?.rows ?? [];
}

function groupsOf(found: readonly RowData[], by: string): RowGroup[] {
  const groups = [...Map.groupBy(found, (row) => valueOf(row, by))].map(([value, rows]) => ({ value, rows }));
  const rank = ({ rows }: RowGroup): readonly number[] =>
    rowSeverities.map((severity) => countSeverities(rows)[severity]);
  const ranks = new Map(groups.map((group) => [group, rank(group)]));
  return groups.toSorted((left, right) => {
    if ((left.value === null) !== (right.value === null)) return left.value === null ? 1 : -1;
    const [a = [], b = []] = [ranks.get(left), ranks.get(right)];
    const at = [0, 1, 2].find((place) => a[place] !== b[place]);
    if (at !== undefined) return (b[at] ?? 0) - (a[at] ?? 0);
    return (left.value ?? "") < (right.value ?? "") ? -1 : 1;
  });
}

function valueOf(row: RowData, by: string): string | null {
  if (by === "severity") return shownSeverity(row);
  const label = row.labels.find((one) => one.startsWith(`${by} `));
  return label === undefined ? null : label.slice(by.length + 1);
}

/** As the address has it. */
function keyOf({ value }: RowGroup): string {
  return value ?? "-";
}

/** The word that finds the rows of a group; null where there is none. */
function wordOf({ value }: RowGroup, by: string): string | null {
  if (value === null || /[\s"]/.test(value)) return null;
  return by === "severity" ? value : `${by}=${value}`;
}

function rowsShown(group: RowGroup, by: string): readonly RowData[] {
  const { rows } = group;
  if (wordOf(group, by) === null) return rows.slice(0, mostRows);
  if (rows.length <= shownRows) return rows;
  return rows.filter((row) => shownSeverity(row) !== "ok").slice(0, shownRows);
}

function renderGroup(group: RowGroup, by: string, open: readonly string[], query: RowQuery): Html {
  const { value, rows } = group;
  const key = keyOf(group);
  const isOpen = open.includes(key);
  const next = isOpen ? open.filter((one) => one !== key) : [...open, key];
  const name = by === "severity" ? (value ?? "") : value === null ? `without ${by}` : `${by} ${value}`;
  const counts = countSeverities(rows);
  const count = sum(rows.map((row) => row.count));
  const expected = sum(rows.map((row) => row.expected));
  const ratio = count !== null && expected !== null && expected > 0 ? count / expected : null;
  const present = rowSeverities.filter((severity) => counts[severity] > 0);
  return html`<tr class="group">
    ${pickCell("td", html`<input type="checkbox" data-pick-group="${key}" aria-label="Select all: ${name}" />`)}
    <th scope="rowgroup" colspan="2">
      <a href="${writeQuery({ ...query, open: next })}" data-ask aria-expanded="${isOpen ? "true" : "false"}"
        ><span class="turn" aria-hidden="true">${isOpen ? "▾" : "▸"}</span> <b>${name}</b></a
      >
      <span class="many">${formatCount(rows.length)}</span>
      ${present.map((severity) => renderCount(severity, counts[severity]))}
    </th>
    <td class="num c-count">${formatCompactCount(count)}</td>
    <td class="num c-exp">${formatExpected(expected)}</td>
    <td class="num c-ratio">${formatRatioCell({ count, expected, ratio })}</td>
    <td class="c-spark">${renderStrip(counts, 168)}</td>
    <td class="c-began"></td>
    <td class="c-next"></td>
    <td class="c-alert"></td>
  </tr>`;
}

function renderCount(severity: RowSeverity, count: number): Html {
  return html`<span class="few">${mark(severity, 11)} ${formatCount(count)}<span class="sr"> ${severity}</span></span>`;
}

/** What of the group is not shown, with the filter that shows it. */
function renderRest(group: RowGroup, shown: readonly RowData[], by: string, query: RowQuery): Html {
  const rest = group.rows.filter((row) => !shown.includes(row));
  if (rest.length === 0) return nothing;
  const ok = rest.filter((row) => shownSeverity(row) === "ok").length;
  const hot = rest.length - ok;
  const parts = [
    ...(hot === 0 ? [] : [`${formatCount(hot)} more that ${hot === 1 ? "is" : "are"} not ok`]),
    ...(ok === 0 ? [] : [`${formatCount(ok)} that ${ok === 1 ? "is" : "are"} ok`]),
  ];
  const { group: _group, open: _open, ...plain } = query;
  const word = wordOf(group, by);
  const text = parts.join(", ");
  const link =
    word === null
      ? html`${text}`
      : html`<a href="${writeQuery({ ...plain, text: `${plain.text} ${word}`.trim() })}" data-ask>${text}</a>`;
  return html`<tr class="rest">
    <td colspan="${columns}">${link}</td>
  </tr>`;
}

/** null: none of them is known. */
function sum(values: readonly (number | null)[]): number | null {
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

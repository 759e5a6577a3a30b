import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { countOf, nbsp } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";

/** What the days of a median baseline were. */
export interface BaselineDaysData {
  /** Deaths in the same window one day before, two days before and so on; empty where the baseline is a mean. */
  readonly days: readonly number[];
  readonly row: { readonly windowHours: number; readonly count: number | null; readonly expected: number | null };
}

const barWidth = 106;
// Four weeks; a longer baseline has its table in the API.
const mostDays = 28;

/** Renders the days of which the expected count is the median, as bars of one scale beside the window itself. */
export function renderBaselineDays({ days, row }: BaselineDaysData): Html {
  if (days.length === 0) return nothing;
  const now = row.count ?? 0;
  const shown = days.slice(0, mostDays);
  const peak = Math.max(1, now, ...shown);
  const line = (name: string, count: number): Html =>
    html`<tr>
      <th scope="row">${name}</th>
      <td class="num">${formatCount(count)}</td>
      <td class="share">
        <svg width="${barWidth}" height="8" viewBox="0 0 ${barWidth} 8" aria-hidden="true">
          <rect class="track" width="${barWidth}" height="8" />
          <rect class="fill" width="${count > 0 ? Math.max(1, Math.round((count / peak) * barWidth)) : 0}" height="8" />
        </svg>
      </td>
    </tr>`;
  return html`<section aria-labelledby="days-h">
    <h2 id="days-h">The days before</h2>
    <p class="detail">
      Expected is the median of the same ${row.windowHours}${nbsp}h on each of ${countOf(days.length, "day")}:
      ${formatExpected(row.expected)}.
    </p>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="days-h">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Window</th>
            <th scope="col" class="num">Count</th>
            <th scope="col"><span class="sr">As a bar</span></th>
          </tr>
        </thead>
        <tbody>
          ${line("now", now)}${shown.map((count, index) => line(index === 0 ? "1 day before" : `${index + 1} days before`, count))}
        </tbody>
      </table>
    </div>
    ${days.length > shown.length ? html`<p class="detail">and ${countOf(days.length - shown.length, "day")} more</p>` : nothing}
  </section>`;
}

/** Returns the days of a result: `observed` has them as `day1`, `day2` and so on where its baseline is a median. */
export function baselineDaysOf(observed: Readonly<Record<string, unknown>>): number[] {
  const days: number[] = [];
  for (let day = 1; ; day++) {
    const count = Object.hasOwn(observed, `day${day}`) ? observed[`day${day}`] : undefined;
    if (typeof count !== "number") return days;
    days.push(count);
  }
}

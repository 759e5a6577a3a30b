import { formatClock, formatDay } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { ChartData } from "./chart-data.ts";

/** What the switches over a chart offer, and what holds. */
export interface ChartSwitches<Range extends string> {
  readonly path: string;
  /** Each with its name. */
  readonly ranges: readonly (readonly [Range, string])[];
  readonly range: Range;
  /** The one that an address without `range` means. */
  readonly standard: Range;
  readonly chart: ChartData;
  readonly isScaleAsked: boolean;
}

/** Range, any stretch, a week before, scale: links, so that they work without scripts and a chart can be sent to others. */
export function renderSwitches<Range extends string>(view: ChartSwitches<Range>): Html {
  const { ranges, range, chart } = view;
  const held = paramsOf(view);
  const to = (changes: Readonly<Record<string, string | null>>): string =>
    addressOf(view.path, { ...held, ...changes });
  const whole = { from: null, to: null };
  const current = html` aria-current="true"`;
  const hasWeek = chart.weekBefore !== null;
  return html`<a class="reset" id="zoom-reset" href="${to(whole)}" data-swap ${chart.isAsked ? nothing : html` hidden`}
      >Reset <kbd aria-hidden="true">Esc</kbd></a
    >
    <div class="switch">
      <nav aria-label="Range">
        ${ranges.map(([one, name]) => html`<a href="${to({ ...whole, range: one === view.standard ? null : one })}" data-swap${one === range && !chart.isAsked ? current : nothing}>${name}</a>`)}
      </nav>
      ${renderSpanForm(view, held)}
    </div>
    <nav class="switch" aria-label="Comparison">
      <a href="${to({ week: hasWeek ? null : "1" })}" data-swap data-keeps${hasWeek ? current : nothing}
        >a week before</a
      >
    </nav>
    <nav class="switch" aria-label="Scale">
      ${(["linear", "log"] as const).map((one) => html`<a href="${to({ scale: one })}" data-swap data-keeps${one === chart.scale ? current : nothing}>${one}</a>`)}
    </nav>`;
}

type Params = Readonly<Record<string, string | null>>;

function paramsOf<Range extends string>({ range, standard, chart, isScaleAsked }: ChartSwitches<Range>): Params {
  return {
    range: range === standard ? null : range,
    from: chart.isAsked ? String(chart.fromMs) : null,
    to: chart.isAsked && !chart.isLive ? String(chart.toMs) : null,
    week: chart.weekBefore === null ? null : "1",
    scale: isScaleAsked ? chart.scale : null,
  };
}

function addressOf(path: string, params: Params): string {
  const set = Object.entries(params).filter((one): one is [string, string] => one[1] !== null);
  const query = new URLSearchParams(set).toString();
  return query === "" ? path : `${path}?${query}`;
}

function renderSpanForm<Range extends string>({ path, chart }: ChartSwitches<Range>, held: Params): Html {
  const name = chart.isAsked
    ? `${instant(chart.fromMs)} to ${chart.isLive ? "now" : instant(chart.toMs)}`
    : "from … to …";
  const others = Object.entries(held).filter(([key, value]) => value !== null && key !== "from" && key !== "to");
  return html`<details class="span">
    <summary ${chart.isAsked ? html`class="on"` : nothing}>${name}</summary>
    <form action="${path}" method="get">
      <label
        ><span>From, UTC</span><input type="datetime-local" name="from" value="${field(chart.fromMs)}" required
      /></label>
      <label
        ><span>To, UTC <span class="detail">(empty: now)</span></span
        ><input type="datetime-local" name="to" value="${chart.isLive ? "" : field(chart.toMs)}"
      /></label>
      ${others.map(([key, value]) => html`<input type="hidden" name="${key}" value="${value ?? ""}" />`)}
      <button type="submit">Show</button>
    </form>
  </details>`;
}

function instant(atMs: number): string {
  return `${formatDay(atMs)} ${formatClock(atMs)}`;
}

/** As a field of a form writes it: 2026-01-15T03:00. */
function field(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16);
}

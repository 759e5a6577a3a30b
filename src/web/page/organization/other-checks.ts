import { none } from "../../../base/numbers.ts";
import { formatLength, formatTime, formatWait, withPageTimes } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark, type RowSeverity } from "../parts/marks.ts";

/** A check of an organization beside the spike check, on its page. Times are epoch ms. */
export interface OtherCheck {
  readonly check: string;
  /** null before the first run. */
  readonly severity: RowSeverity | null;
  readonly sinceMs: number | null;
  readonly lastRunMs: number | null;
  readonly nextRunMs: number;
  readonly isRunning: boolean;
  /** `firing`, `pending` or `silenced`; null: no alert. */
  readonly alert: string | null;
  /** What it saw, in short. */
  readonly saw: string;
  /** What is wrong, most important first; empty while it is ok. */
  readonly messages: readonly string[];
}

const verbs = { fail: "fails", warn: "warns", unknown: "could not be run" } as const;

/** One line for each check that is not ok: what a reader of the count alone would miss. */
export function renderOtherLines(others: readonly OtherCheck[], nowMs: number): Html {
  const lines = others.flatMap(({ check, severity, sinceMs, messages }) => {
    if (severity === null || severity === "ok") return [];
    const since = sinceMs === null ? "" : ` since ${formatTime(sinceMs, nowMs)}`;
    return html`<p class="part otherline">
      ${mark(severity)}
      <strong class="${severity}">${check} ${verbs[severity]}</strong
      >${since}${messages[0] === undefined ? "." : `: ${withPageTimes(messages[0], nowMs)}.`}
    </p>`;
  });
  return html`${lines}`;
}

/** Renders what else is checked of the organization; nothing where only spikes are. */
export function renderOtherChecks(others: readonly OtherCheck[], nowMs: number): Html {
  if (others.length === 0) return nothing;
  const rows = others.map((one) => {
    const severity = one.severity ?? "unknown";
    return html`<tr>
      <th scope="row">${one.check}</th>
      <td class="sevcell ${severity}">${mark(severity)} ${one.severity ?? "not run yet"}</td>
      <td class="num" data-name="since">${one.sinceMs === null ? none : formatLength(nowMs - one.sinceMs)}</td>
      <td class="num" data-name="next run">${one.isRunning ? "running" : formatWait(one.nextRunMs - nowMs)}</td>
      <td data-name="alert">${one.alert ?? none}</td>
      <td class="whole">${one.saw}</td>
    </tr>`;
  });
  const more = others.flatMap(({ severity, messages }) =>
    messages
      .slice(1)
      .map(
        (message) =>
          html`<li>
            ${mark(severity ?? "unknown")} <span class="sr">${severity}: </span>${withPageTimes(message, nowMs)}
          </li>`,
      ),
  );
  return html`<section aria-labelledby="others-h">
    <h2 id="others-h">Other checks</h2>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="others-h">
      <table class="plain stack">
        <thead>
          <tr>
            <th scope="col">Check</th>
            <th scope="col">Severity</th>
            <th scope="col" class="num">Since</th>
            <th scope="col" class="num">Next run</th>
            <th scope="col">Alert</th>
            <th scope="col">Saw</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
    ${
      more.length === 0
        ? nothing
        : html`<ul class="findings">
            ${more}
          </ul>`
    }
  </section>`;
}

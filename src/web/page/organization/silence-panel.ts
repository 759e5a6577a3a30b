import { breakAddresses } from "../../../base/broken-address.ts";
import { formatLengthInProse } from "../parts/figures.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { renderTime } from "../parts/time.ts";
import type { PageSilence } from "../ports.ts";

const glyph: Html = html`<svg class="glyph" width="18" height="14" viewBox="0 0 18 14" aria-hidden="true">
  <path d="M1 7H18" stroke="currentColor" stroke-width="3" stroke-dasharray="2 3" />
</svg>`;

/** Renders the silence that holds longest, and how many more. `withPeople`: who made it and why, for who may read that. */
export function renderSilencePanel(silences: readonly PageSilence[], withPeople: boolean, nowMs: number): Html {
  const [longest, ...more] = silences.toSorted((left, right) => right.endsAtMs - left.endsAtMs);
  if (longest === undefined) return nothing;
  const { id, rule, createdBy, startsAtMs, endsAtMs } = longest;
  const { check = null, comment } = rule;
  const which = check === null ? "All checks" : check;
  const who =
    id === null ? "by the configuration" : html`${createdBy ?? "nobody said who"} at ${renderTime(startsAtMs, nowMs)}`;
  return html`<section class="silenced" aria-label="Silence">
    ${glyph}
    <div>
      <p>
        <b>Silenced until ${renderTime(endsAtMs, nowMs)}</b>, ${formatLengthInProse(endsAtMs - nowMs)}
        left.${more.length === 0 ? nothing : ` And ${more.length} more.`}
      </p>
      <p class="second">
        ${withPeople ? html`«${breakAddresses(comment)}», ${who}. ${which}.` : html`${which}. Why and by whom needs a token. <a href="/silences" data-swap data-closed>Silences</a>`}
      </p>
    </div>
    ${
      !withPeople || id === null
        ? nothing
        : html`<p
            class="panel-acts"
            data-silence="${id}"
            data-pattern="${rule.slug ?? "*"}"
            data-check="${check ?? ""}"
            data-comment="${comment}"
            data-ends="${endsAtMs}"
          >
            <button type="button" data-do="silence-change">Extend&hellip;</button>
            <button type="button" data-do="silence-end">End now</button>
          </p>`
    }
  </section>`;
}

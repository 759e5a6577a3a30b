import { renderConfig } from "../../../config/render.ts";
import type { Running } from "../../read/running.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import { renderHead } from "../frame.ts";
import { renderSection } from "../table.ts";

export const path = "/config";
// More lines than the page shows of them. All of 2,000 organizations took 0.9 s (2026-11), in which nothing else ran.
const renderedOrganizations = 20;

/** Renders what is applied as YAML, with secrets as `***`; above it what is wrong with sources of organizations. */
export function renderConfiguration({ config, reloads, clock }: Running, discoveryProblems: readonly string[]): Html {
  const nowMs = clock.nowMs();
  const { lastReload, appliedAtMs } = reloads();
  const { file, organizations, ...others } = config();
  const written = organizations.filter(({ discoveredBy }) => discoveredBy === null);
  const shown = written.slice(0, renderedOrganizations);
  const text = renderConfig({ ...others, file, organizations: shown });
  const omitted = written.length - shown.length;
  const problem = lastReload?.problem ?? null;
  const headline =
    problem === null
      ? "The configuration that is applied, with its defaults"
      : "The last reload failed: an older configuration is applied.";
  const acts = html`<form method="post" action="${path}/reload" hx-post="${path}/reload" hx-target="#dialog-place">
    <button>Reload</button>
  </form>`;
  const reload =
    lastReload === null ? "Not reloaded since the start." : problem === null ? "The last reload was ok." : "";
  const more =
    omitted === 0
      ? nothing
      : html`<p class="second">
          ${countOf(omitted, "organization")} more: <code>flatline config show</code> has all.
        </p>`;
  return html`${renderHead([headline], { acts })}
    <p class="lede">Applied ${durationText(nowMs - appliedAtMs)} ago from <code>${file}</code>. ${reload}</p>
    ${
      lastReload === null || problem === null
        ? nothing
        : html`<div class="note">
            <p>Not applied at ${renderTime(lastReload.atMs, nowMs)}:</p>
            <pre>${problem}</pre>
          </div>`
    }
    ${discoveryProblems.map((text) => html`<div class="note"><p>${text}</p></div>`)}
    ${renderSection(
      "As YAML",
      html`<pre class="yaml" tabindex="0" aria-label="The configuration as YAML">${text}</pre>
        ${more}`,
    )}`;
}

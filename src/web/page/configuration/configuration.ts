import { formatCount } from "../../../base/numbers.ts";
import { formatLengthInProse, formatTime } from "../parts/figures.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { mark } from "../parts/marks.ts";

/** What the page shows of the configuration. */
export interface ConfigurationData {
  readonly text: string;
  readonly files: readonly string[];
  readonly appliedAtMs: number;
  readonly lastReload: { readonly atMs: number; readonly problem: string | null } | null;
  readonly organizations: readonly {
    readonly slug: string;
    readonly settings: readonly { readonly name: string; readonly value: string; readonly setIn: string }[];
  }[];
  readonly activeSilences: number;
  readonly receivers: number;
}

/** As applied, secrets as ***. */
export function renderConfiguration(data: ConfigurationData, nowMs: number): Html {
  const { files, lastReload } = data;
  const more = files.length > 1 ? ` (+${files.length - 1} included)` : "";
  const reload =
    lastReload === null
      ? "Not reloaded since the start."
      : lastReload.problem === null
        ? "Last reload ok."
        : "The last reload failed.";
  const sections = data.text.split(/^(?=[a-zA-Z])/m);
  const extra: Readonly<Record<string, string>> = {
    organizations: ` (${formatCount(data.organizations.length)})`,
    receivers: ` (${formatCount(data.receivers)})`,
    silences: data.activeSilences > 0 ? ` (${data.activeSilences} active)` : "",
  };
  const parts = sections.map((text) => ({ name: /^[a-zA-Z]+/.exec(text)?.[0] ?? "top", text }));
  return html`<h1 class="sentence">
      As applied ${formatLengthInProse(nowMs - data.appliedAtMs)} ago from
      <code>${files[0] ?? "flatline.yaml"}</code>${more}. ${reload}
    </h1>
    ${
      lastReload === null || lastReload.problem === null
        ? nothing
        : html`<div class="problem">
            ${mark("warn")} Not applied at ${formatTime(lastReload.atMs, nowMs)}:
            <pre>${lastReload.problem}</pre>
            The running one is older.
          </div>`
    }
    <p class="actions">
      <button type="button" data-do="reload">Reload</button> <button type="button" data-copy="yaml">Copy</button>
      <span class="did" id="did" role="status"></span>
    </p>
    <nav class="inpage" aria-label="On this page">
      ${parts.map(({ name }) => html`<a href="#c-${name}">${name}${extra[name] ?? ""}</a> `)}<a href="#c-where"
        >where set</a
      >
    </nav>
    <div class="yaml" id="yaml" tabindex="0" role="region" aria-label="The effective configuration">
      ${parts.map(({ name, text }) => html`<pre id="c-${name}">${text}</pre>`)}
    </div>
    <section aria-labelledby="c-where">
      <h2 id="c-where">Where each organization's settings are set</h2>
      ${data.organizations.slice(0, 200).map(
        ({ slug, settings }) =>
          html`<details>
            <summary>${slug}</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="Settings of ${slug}">
              <table class="plain">
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Value</th>
                    <th scope="col">Set in</th>
                  </tr>
                </thead>
                <tbody>
                  ${settings.map(
                    ({ name, value, setIn }) =>
                      html`<tr>
                        <th scope="row"><code>${name}</code></th>
                        <td><code>${value}</code></td>
                        <td class="${setIn === "default" ? "detail" : ""}">
                          ${setIn === "default" ? "# default" : setIn}
                        </td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>
          </details>`,
      )}
    </section>`;
}

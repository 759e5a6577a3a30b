import { formatCount } from "../../../base/numbers.ts";
import { organizationPath } from "../overview/row.ts";
import { countOf, formatLengthInProse } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "../parts/marks.ts";
import { renderTime } from "../../parts/time.ts";
import type { PageOrganization } from "../ports.ts";
import { differencesOf, usualValues, type Difference } from "./differences.ts";

/** What the page shows of the configuration. */
export interface ConfigurationData {
  readonly text: string;
  readonly omitted: number;
  readonly files: readonly string[];
  readonly appliedAtMs: number;
  readonly lastReload: { readonly atMs: number; readonly problem: string | null } | null;
  readonly organizations: readonly PageOrganization[];
  /** The organization that was asked for, by its slug [none]. */
  readonly lookedUp: string | null;
}

// Whole sections of thousands of organizations are for a file, not for a page.
const mostLines = 500;
const mostRows = 400;
const mostNames = 50;

/** Renders what is applied: what differs from the defaults first, secrets as ***. */
export function renderConfiguration(data: ConfigurationData, nowMs: number): Html {
  const { files, lastReload, organizations } = data;
  const differences = differencesOf(organizations);
  const more = files.length > 1 ? ` and ${countOf(files.length - 1, "included file")}` : "";
  const reload =
    lastReload === null
      ? "Not reloaded since the start."
      : lastReload.problem === null
        ? "The last reload was ok."
        : "The last reload failed.";
  return html`<div class="headline">
      <div>
        <h1 class="sentence">${configurationSentence(organizations, differences)}</h1>
        <p class="why">
          Applied ${formatLengthInProse(nowMs - data.appliedAtMs)} ago from
          <code>${files[0] ?? "flatline.yaml"}</code>${more}. ${reload}
        </p>
      </div>
      <div class="buttons">
        ${isWhole(data) ? html`<button type="button" data-copy="yaml">Copy YAML</button>` : nothing}
        <button type="button" data-do="reload">Reload</button>
        <p class="did" id="did" role="status"></p>
      </div>
    </div>
    ${
      lastReload === null || lastReload.problem === null
        ? nothing
        : html`<div class="problem">
            ${mark("warn")} Not applied at ${renderTime(lastReload.atMs, nowMs)}:
            <pre>${lastReload.problem}</pre>
            The running one is older.
          </div>`
    }
    ${renderDifferences(differences)}${renderLookUp(data)}${renderDefaults(organizations)}${renderYaml(data)}`;
}

/** "58 of 2,000 organizations differ from the defaults, in 10 settings." */
export function configurationSentence(
  organizations: readonly PageOrganization[],
  differences: readonly Difference[],
): string {
  if (organizations.length === 0) return "No organization is configured.";
  const slugs = new Set(differences.flatMap((one) => one.slugs)).size;
  if (slugs === 0)
    return organizations.length === 1
      ? "The one organization uses the defaults."
      : `All ${formatCount(organizations.length)} organizations use the defaults.`;
  const names = new Set(differences.map(({ name }) => name)).size;
  return `${formatCount(slugs)} of ${countOf(organizations.length, "organization")} ${slugs === 1 ? "differs" : "differ"} from the defaults, in ${countOf(names, "setting")}.`;
}

function renderDifferences(differences: readonly Difference[]): Html {
  if (differences.length === 0) return nothing;
  const shown = differences.slice(0, mostRows);
  return html`<section aria-labelledby="differs-h">
    <h2 id="differs-h">
      What differs
      <small>${countOf(differences.length, "difference")}, the same ones of several organizations in one row</small>
    </h2>
    <div class="tools">
      <form class="filter" role="search" data-filter="differs">
        <label class="sr" for="q">Filter by organization, setting, value or file</label
        ><input
          id="q"
          type="search"
          placeholder="Filter: acme failMultiplier hosts.yaml"
          autocomplete="off"
          spellcheck="false"
        /><kbd aria-hidden="true">/</kbd>
      </form>
    </div>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="differs-h">
      <table class="listing differs" id="differs" aria-labelledby="differs-h">
        <thead>
          <tr>
            <th scope="col">Organization</th>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col">Default</th>
            <th scope="col">Set in</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map((one, index) => renderDifference(one, shown[index - 1]))}
        </tbody>
      </table>
    </div>
    <p class="away" data-away="differs" hidden></p>
    ${differences.length > shown.length ? html`<p class="hint">and ${formatCount(differences.length - shown.length)} more: <code>flatline config show</code></p>` : nothing}
  </section>`;
}

function renderDifference({ slugs, name, value, usual, setIn }: Difference, before: Difference | undefined): Html {
  const [slug = ""] = slugs;
  const isSame = slugs.length === 1 && before?.slugs.length === 1 && before.slugs[0] === slug;
  const many = html`<details>
    <summary>${countOf(slugs.length, "organization")}</summary>
    ${slugs.slice(0, mostNames).join(", ")}${slugs.length > mostNames ? ` and ${formatCount(slugs.length - mostNames)} more` : ""}
  </details>`;
  const words = [...slugs, name, value, setIn].join(" ").toLowerCase();
  return html`<tr data-words="${words}" class="${isSame ? "same" : ""}">
    <th scope="row">
      ${slugs.length > 1 ? many : html`<a href="${organizationPath(slug)}" class="${isSame ? "sr" : ""}">${slug}</a>`}
    </th>
    <td><code>${name}</code></td>
    <td>
      <code><b>${value}</b></code>
    </td>
    <td><code class="detail">${usual ?? "–"}</code></td>
    <td><code>${setIn}</code>${slugs.length > 1 ? html` <span class="detail">and others</span>` : nothing}</td>
  </tr>`;
}

function renderLookUp({ organizations, lookedUp }: ConfigurationData): Html {
  if (organizations.length === 0) return nothing;
  const found = organizations.find(({ slug }) => slug === lookedUp);
  const answer =
    lookedUp === null || lookedUp === ""
      ? nothing
      : found === undefined
        ? html`<p class="away">No organization is called «${lookedUp}».</p>`
        : html`<dl class="settings">
            ${found.settings.map(
              ({ name, value, setIn }) =>
                html`<div>
                  <dt><code>${name}</code></dt>
                  <dd><code>${value}</code></dd>
                  <dd class="detail"><code>${setIn === "default" ? "# default" : setIn}</code></dd>
                </div>`,
            )}
          </dl>`;
  return html`<section aria-labelledby="lookup-h">
    <h2 id="lookup-h">Look one up</h2>
    <form class="filter" action="/config" method="get" data-search="lookup-part">
      <label class="sr" for="o">Any of ${formatCount(organizations.length)} organizations</label
      ><input
        id="o"
        name="o"
        type="search"
        placeholder="Any of ${formatCount(organizations.length)} organizations"
        value="${lookedUp ?? ""}"
        autocomplete="off"
        spellcheck="false"
      />
    </form>
    <div id="lookup-part">${answer}</div>
  </section>`;
}

function renderDefaults(organizations: readonly PageOrganization[]): Html {
  const usual = usualValues(organizations);
  if (usual.size === 0) return nothing;
  const places = new Map<string, string>();
  for (const { settings } of organizations)
    for (const { name, setIn, isOwn } of settings) if (!isOwn && !places.has(name)) places.set(name, setIn);
  const set = [...places.values()].filter((place) => place !== "default").length;
  return html`<section aria-labelledby="defaults-h">
    <h2 id="defaults-h">Defaults <small>${set} set, ${usual.size - set} as they come</small></h2>
    <dl class="settings">
      ${[...usual].map(
        ([name, value]) =>
          html`<div>
            <dt><code>${name}</code></dt>
            <dd><code>${value}</code></dd>
            <dd class="detail">
              <code>${places.get(name) === "default" ? "# default" : (places.get(name) ?? "")}</code>
            </dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

function sectionsOf(text: string): string[] {
  return text.split(/^(?=[a-zA-Z])/m).filter((part) => part.trim() !== "");
}

/** No section of it is cut. */
function isWhole({ text, omitted }: ConfigurationData): boolean {
  return omitted === 0 && sectionsOf(text).every((part) => part.split("\n").length <= mostLines);
}

/** Folded by section; of a long one the beginning. */
function renderYaml({ text, omitted }: ConfigurationData): Html {
  const sections = sectionsOf(text);
  return html`<section aria-labelledby="yaml-h">
    <h2 id="yaml-h">As YAML</h2>
    <div id="yaml">
      ${sections.map((part) => {
        const lines = part.trimEnd().split("\n");
        const name = /^[a-zA-Z]+/.exec(part)?.[0] ?? "top";
        const rest = lines.length - mostLines;
        const many = name === "organizations" ? omitted : 0;
        const more = [
          ...(many > 0 ? [countOf(many, "organization")] : []),
          ...(rest > 0 ? [countOf(rest, "line")] : []),
        ];
        return html`<details class="yaml-part" id="c-${name}">
          <summary>
            <code>${name}:</code>
            <span class="detail">${many > 0 ? `the first ${mostLines} lines` : countOf(lines.length, "line")}</span>
          </summary>
          <pre class="yaml" tabindex="0" aria-label="${name}">
${lines.slice(0, mostLines).join("\n")}
</pre>
          ${more.length > 0 ? html`<p class="hint">${more.join(" and ")} more: <code>flatline config show</code></p>` : nothing}
        </details>`;
      })}
    </div>
  </section>`;
}

import { formatCount } from "../../../base/numbers.ts";
import type { PageConfiguration, PageOrganization } from "../../read/page.ts";
import { countOf, formatLengthInProse } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import { renderHead } from "../frame.ts";
import {
  filterByWords,
  pageOf,
  renderFilter,
  renderNoMatch,
  renderPager,
  renderSearch,
  renderSection,
  renderTable,
  withParams,
  type Column,
} from "../table.ts";
import { compareSettings, type Comparison, type Difference } from "./differences.ts";

/** What the page shows of the configuration. */
export interface ConfigurationView extends PageConfiguration {
  readonly organizations: readonly PageOrganization[];
  /** `?o=` is the organization that was asked for. */
  readonly params: URLSearchParams;
  readonly nowMs: number;
}

export const path = "/config";
// Whole sections of thousands of organizations are for a file, not for a page.
const mostLines = 500;
const pageSize = 100;
const mostNames = 50;

/** Renders what is applied: what differs from the defaults first, secrets as ***. */
export function renderConfiguration(view: ConfigurationView): Html {
  const { file, lastReload, organizations, appliedAtMs, nowMs } = view;
  const { differences, usual } = compareSettings(organizations);
  const reload =
    lastReload === null
      ? "Not reloaded since the start."
      : lastReload.problem === null
        ? "The last reload was ok."
        : "The last reload failed.";
  const acts = html`<form method="post" action="${path}/reload" hx-post="${path}/reload" hx-target="#dialog-place">
    <button>Reload</button>
  </form>`;
  return html`${renderHead([configurationSentence(organizations, differences)], { acts })}
    <p class="lede">Applied ${formatLengthInProse(nowMs - appliedAtMs)} ago from <code>${file}</code>. ${reload}</p>
    ${
      lastReload === null || lastReload.problem === null
        ? nothing
        : html`<div class="note">
            <p>Not applied at ${renderTime(lastReload.atMs, nowMs)}; the running one is older:</p>
            <pre>${lastReload.problem}</pre>
          </div>`
    }
    ${renderDifferences(differences, view)}${renderLookUp(view)}${renderDefaults(usual)}${renderYaml(view)}`;
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

const columns: readonly Column[] = [
  { name: "Organization", kind: "what" },
  { name: "Setting" },
  { name: "Value" },
  { name: "Default" },
  { name: "Set in" },
];

function renderDifferences(differences: readonly Difference[], { params }: ConfigurationView): Html {
  if (differences.length === 0) return nothing;
  const wanted = filterByWords(differences, params, ({ slugs, name, value, setIn }) =>
    [...slugs, name, value, setIn].join(" "),
  );
  const page = pageOf(wanted, params.get("page"), pageSize);
  const rows = page.items.map((one, index) => renderDifference(one, page.items[index - 1]));
  const filter = renderFilter({
    path,
    params,
    placeholder: "Filter: acme failMultiplier hosts.yaml",
    kept: ["o"],
    beside: html`<p>${countOf(wanted.length, "difference")}, the same ones of several organizations in one row</p>`,
  });
  const list =
    wanted.length === 0
      ? renderNoMatch("difference", path, params)
      : html`${renderTable("flow differs", columns, rows, "What differs")}${renderPager(page, (number) => withParams(path, params, { page: String(number) }))}`;
  return renderSection("What differs", html`${filter}${list}`, { id: "differs" });
}

function renderDifference({ slugs, name, value, usual, setIn }: Difference, before: Difference | undefined): Html {
  const [slug = ""] = slugs;
  const isSame = slugs.length === 1 && before?.slugs.length === 1 && before.slugs[0] === slug;
  const names = slugs.slice(0, mostNames).join(", ");
  const who =
    slugs.length > 1
      ? html`<details id="d-${name}-${value}">
          <summary>${countOf(slugs.length, "organization")}</summary>
          <span class="under"
            >${names}${slugs.length > mostNames ? ` and ${formatCount(slugs.length - mostNames)} more` : ""}</span
          >
        </details>`
      : html`<a href="/o/${encodeURIComponent(slug)}" class="${isSame ? "sr" : ""}">${slug}</a>`;
  return html`<tr class="${isSame ? "same" : ""}">
    <th scope="row" class="what">${who}</th>
    <td><code>${name}</code></td>
    <td>
      <code><b>${value}</b></code>
    </td>
    <td class="quiet" data-name="default"><code>${usual ?? "–"}</code></td>
    <td><code>${setIn}</code>${slugs.length > 1 ? html` <span class="quiet">and others</span>` : nothing}</td>
  </tr>`;
}

function renderLookUp({ organizations, params }: ConfigurationView): Html {
  if (organizations.length === 0) return nothing;
  const asked = (params.get("o") ?? "").trim();
  const found = organizations.find(({ slug }) => slug === asked);
  const answer =
    asked === ""
      ? nothing
      : found === undefined
        ? html`<p class="second">No organization is called «${asked}».</p>`
        : renderSettings(found.settings);
  const words = `Any of ${countOf(organizations.length, "organization")}`;
  const q = params.get("q");
  return renderSection(
    "Look one up",
    html`${renderSearch(
      path,
      html`<label
          ><span class="sr">${words}</span
          ><input
            id="look-up"
            name="o"
            type="search"
            placeholder="${words}"
            value="${asked}"
            autocomplete="off"
            spellcheck="false" /></label
        >${q === null ? nothing : html`<input type="hidden" name="q" value="${q}" />`}`,
    )}
    ${answer}`,
    { id: "one" },
  );
}

interface ShownSetting {
  readonly name: string;
  readonly value: string;
  readonly setIn: string;
}

function renderSettings(settings: readonly ShownSetting[]): Html {
  return html`<dl class="settings">
    ${settings.map(
      ({ name, value, setIn }) =>
        html`<div>
          <dt><code>${name}</code></dt>
          <dd>
            <code>${value}</code> <span class="quiet"><code>${setIn === "default" ? "# default" : setIn}</code></span>
          </dd>
        </div>`,
    )}
  </dl>`;
}

function renderDefaults(usual: Comparison["usual"]): Html {
  if (usual.size === 0) return nothing;
  const settings = [...usual.values()];
  const set = settings.filter(({ setIn }) => setIn !== "default").length;
  const beside = html`<p>${set} set, ${usual.size - set} as they come</p>`;
  return renderSection("Defaults", renderSettings(settings), { beside, id: "defaults" });
}

/** Folded by section; of a long one the beginning. */
function renderYaml({ text, omitted }: ConfigurationView): Html {
  const sections = text.split(/^(?=[a-zA-Z])/m).filter((part) => part.trim() !== "");
  return renderSection("As YAML", html`${sections.map((part) => renderYamlPart(part, omitted))}`, { id: "yaml" });
}

function renderYamlPart(part: string, omitted: number): Html {
  const lines = part.trimEnd().split("\n");
  const name = /^[a-zA-Z]+/.exec(part)?.[0] ?? "top";
  const rest = lines.length - mostLines;
  const many = name === "organizations" ? omitted : 0;
  const more = [...(many > 0 ? [countOf(many, "organization")] : []), ...(rest > 0 ? [countOf(rest, "line")] : [])];
  return html`<details class="yaml" id="c-${name}">
    <summary>
      <code>${name}:</code>
      <span class="quiet">${many > 0 ? `the first ${mostLines} lines` : countOf(lines.length, "line")}</span>
    </summary>
    <pre tabindex="0" aria-label="${name}">
${lines.slice(0, mostLines).join("\n")}
</pre>
    ${more.length > 0 ? html`<p class="second">${more.join(" and ")} more: <code>flatline config show</code></p>` : nothing}
  </details>`;
}

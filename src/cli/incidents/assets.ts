import { breakAddress } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import { incidentAssetPageSchema, type IncidentAssetPage } from "../../contract/v1/incidents.ts";
import { pagesOf } from "../api-client.ts";
import { asking } from "../ask.ts";
import { flag, value } from "../command.ts";
import type { CliContext } from "../context.ts";
import { renderTable } from "../table.ts";
import { collect, parseNumber } from "../values.ts";

// The API's limit.
const mostOnPage = 1_000;

export const assets = asking({
  description: "list the assets that died in an incident, those first that flatline saw alive",
  words: [["<id>", "its number or id"]],
  flags: {
    slug: value("<slug>", "only of this organization; repeatable", collect),
    toRestore: flag("only of alerts that are judged `checker`: what is to be brought back"),
    stillDead: flag("without those that were found alive since"),
    limit: value("<n>", "at most so many, in this order [all]", parseNumber("int")),
    csv: flag("print all as CSV, with the attributes of the events", "json", "limit"),
  },
  json: "print one JSON object a line: {slug, asset, assetType, deadAt, attributes, revivedAt, answer}",
  help: `
In order of harm: what showed life to the verifier (a second opinion), what events found alive since, the
rest; of each the newest first. The table shows addresses broken; --csv and --json have them as they are.

Examples:
  flatline incidents assets 41 --slug acme
  flatline incidents assets 41 --to-restore --still-dead --csv > restore.csv
`,
  ask: async ({ api, flags: { slug, stillDead, toRestore, csv, limit = Infinity }, words: [id] }) => {
    const path = `/api/v1/incidents/${encodeURIComponent(id)}/assets`;
    const query = { slug, stillDead, toRestore };
    if (csv === true) return api.readText(path, { ...query, format: "csv" });
    const pages: IncidentAssetPage[] = [];
    const ofPage = { ...query, limit: Math.min(mostOnPage, limit) };
    let left = limit;
    for await (const page of pagesOf(api, path, incidentAssetPageSchema, ofPage)) {
      pages.push({ ...page, assets: page.assets.slice(0, left) });
      left -= page.assets.length;
      if (left <= 0) break;
    }
    return pages;
  },
  say: (answer, { context }) => (typeof answer === "string" ? answer : render(answer, context)),
  data: (answer) =>
    typeof answer === "string"
      ? answer
      : answer.flatMap((page) => page.assets.map((asset) => `${JSON.stringify(asset)}\n`)).join(""),
});

function render(pages: readonly IncidentAssetPage[], context: CliContext): string {
  const { count = 0, knownCount = 0, seenAliveCount = 0, revivedCount = 0 } = pages.at(-1) ?? {};
  const summary =
    `${formatCount(count)} deaths, ${formatCount(knownCount)} different assets known; ` +
    `${formatCount(seenAliveCount)} answered the verifier, ` +
    `${formatCount(revivedCount)} ${revivedCount === 1 ? "was" : "were"} found alive`;
  const rows = pages.flatMap((page) => page.assets);
  if (rows.length === 0) return `${summary}; none to list\n`;
  const table = renderTable(
    rows,
    {
      "DEAD SINCE": ({ deadAt }) => withoutFraction(deadAt),
      TYPE: ({ assetType }) => assetType,
      "FOUND ALIVE": ({ revivedAt }) => (revivedAt === null ? null : withoutFraction(revivedAt)),
      ANSWER: ({ answer }) => answer,
      ORGANIZATION: ({ slug }) => slug,
      ASSET: ({ asset }) => breakAddress(asset),
    },
    { context },
  );
  return `${table}\n${summary}\n`;
}

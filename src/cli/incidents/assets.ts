import { Option, type Command } from "commander";

import { breakAddress } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import { incidentAssetPageSchema, type IncidentAsset, type IncidentAssetPage } from "../../contract/v1/dead-assets.ts";
import type { ApiClient } from "../api-client.ts";
import { addAskFlags, askApi, type AskFlags } from "../ask.ts";
import type { CliContext } from "../context.ts";
import { renderTable } from "../table.ts";
import { collect } from "../values.ts";

interface AssetsFlags extends AskFlags {
  readonly slug?: readonly string[];
  readonly stillDead?: boolean;
  readonly toRestore?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** `flatline incidents assets ID` */
export function addAssets(parent: Command, context: CliContext): void {
  const command = parent
    .command("assets")
    .description("list the assets that died in an incident, those first that flatline saw alive")
    .argument("<id>", "its number or id")
    .option("--slug <slug>", "only of this organization; repeatable", collect)
    .option("--to-restore", "only of alerts that are judged `checker`: what is to be brought back")
    .option("--still-dead", "without those that were found alive since")
    .addOption(new Option("--csv", "print all as CSV, with the attributes of the events").conflicts("json"))
    .option("--json", "print one JSON object a line: {slug, asset, assetType, deadAt, attributes, revivedAt, answer}");
  addAskFlags(command)
    .addHelpText("after", help)
    .action(async (id: string, flags: AssetsFlags) => {
      const path = `/api/v1/incidents/${encodeURIComponent(id)}/assets`;
      await askApi(flags, context, (api) => print(flags, context, api, path));
    });
}

const help = `
In order of harm: what showed life to the verifier (a second opinion), what events found alive since, the rest; of each
the newest first. The table shows addresses broken; --csv and --json have them as they are.

Examples:
  flatline incidents assets 41 --slug acme
  flatline incidents assets 41 --to-restore --still-dead --csv > restore.csv
`;

async function print(flags: AssetsFlags, context: CliContext, api: ApiClient, path: string): Promise<void> {
  const filter: readonly [string, string][] = [
    ...(flags.slug ?? []).map((slug): [string, string] => ["slug", slug]),
    ...(flags.stillDead === true ? [["stillDead", "true"] as [string, string]] : []),
    ...(flags.toRestore === true ? [["toRestore", "true"] as [string, string]] : []),
  ];
  if (flags.csv === true) {
    const query = new URLSearchParams([["format", "csv"], ...filter]);
    context.stdout.write(await api.readText(`${path}?${query.toString()}`));
    return;
  }
  const assets: IncidentAsset[] = [];
  let summary = "";
  for await (const page of readPages(api, path, filter)) {
    if (flags.json === true) {
      context.stdout.write(page.assets.map((asset) => `${JSON.stringify(asset)}\n`).join(""));
      continue;
    }
    assets.push(...page.assets);
    summary =
      `${formatCount(page.count)} deaths, ${formatCount(page.knownCount)} different assets known; ` +
      `${formatCount(page.seenAliveCount)} answered the verifier, ` +
      `${formatCount(page.revivedCount)} ${page.revivedCount === 1 ? "was" : "were"} found alive`;
  }
  if (flags.json !== true) context.stdout.write(renderAssets(assets, summary, context));
}

function renderAssets(assets: readonly IncidentAsset[], summary: string, context: CliContext): string {
  if (assets.length === 0) return `${summary}; none to list\n`;
  const rows = assets.map(({ slug, asset, assetType, deadAt, revivedAt, answer }) => [
    withoutFraction(deadAt),
    assetType ?? "",
    revivedAt === null ? "" : withoutFraction(revivedAt),
    answer ?? "",
    slug,
    breakAddress(asset),
  ]);
  const head = ["DEAD SINCE", "TYPE", "FOUND ALIVE", "ANSWER", "ORGANIZATION", "ASSET"];
  return `${renderTable(head, rows, { context })}\n${summary}\n`;
}

// As many as a page may have.
const pageLimit = "1000";

/** Reads all pages of a list of dead assets. */
async function* readPages(
  api: Pick<ApiClient, "read">,
  path: string,
  filter: readonly [string, string][],
): AsyncGenerator<IncidentAssetPage> {
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams([["limit", pageLimit], ...filter]);
    if (cursor !== undefined) query.set("cursor", cursor);
    const page = await api.read(`${path}?${query.toString()}`, incidentAssetPageSchema);
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

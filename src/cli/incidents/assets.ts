import { Option, type Command } from "commander";

import { breakAddress } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import { incidentAssetPageSchema, type IncidentAsset, type IncidentAssetPage } from "../../contract/v1/incidents.ts";
import { askingCommand } from "../ask.ts";
import type { AskFlags, CliContext } from "../context.ts";
import { renderTable } from "../table.ts";
import { collect } from "../values.ts";

interface AssetsFlags extends AskFlags {
  readonly slug?: readonly string[];
  readonly stillDead?: boolean;
  readonly toRestore?: boolean;
  readonly csv?: boolean;
}

/** Completes `flatline incidents assets ID`. */
export function addAssets(command: Command, context: CliContext): void {
  command
    .option("--slug <slug>", "only of this organization; repeatable", collect)
    .option("--to-restore", "only of alerts that are judged `checker`: what is to be brought back")
    .option("--still-dead", "without those that were found alive since")
    .addOption(new Option("--csv", "print all as CSV, with the attributes of the events").conflicts("json"));
  askingCommand(command, context, {
    json: "print one JSON object a line: {slug, asset, assetType, deadAt, attributes, revivedAt, answer}",
    help,
    ask: async (api, { slug = [], stillDead, toRestore, csv }: AssetsFlags, id: string) => {
      const query = new URLSearchParams(csv === true ? { format: "csv" } : { limit: mostOnPage });
      for (const one of slug) query.append("slug", one);
      if (stillDead === true) query.set("stillDead", "true");
      if (toRestore === true) query.set("toRestore", "true");
      const path = `/api/v1/incidents/${encodeURIComponent(id)}/assets`;
      if (csv === true) return api.readText(`${path}?${query.toString()}`);
      const pages: IncidentAssetPage[] = [];
      do {
        const page = await api.read(`${path}?${query.toString()}`, incidentAssetPageSchema);
        pages.push(page);
        query.set("cursor", page.cursor ?? "");
      } while (query.get("cursor") !== "");
      return pages;
    },
    say: (answer) => (typeof answer === "string" ? answer : render(answer, context)),
    data: (answer) =>
      typeof answer === "string"
        ? answer
        : answer.flatMap(({ assets }) => assets.map((asset) => `${JSON.stringify(asset)}\n`)).join(""),
  });
}

// As many as a page may have.
const mostOnPage = "1000";

const help = `
In order of harm: what showed life to the verifier (a second opinion), what events found alive since, the rest; of each
the newest first. The table shows addresses broken; --csv and --json have them as they are.

Examples:
  flatline incidents assets 41 --slug acme
  flatline incidents assets 41 --to-restore --still-dead --csv > restore.csv
`;

function render(pages: readonly IncidentAssetPage[], context: CliContext): string {
  const { count = 0, knownCount = 0, seenAliveCount = 0, revivedCount = 0 } = pages.at(-1) ?? {};
  const summary =
    `${formatCount(count)} deaths, ${formatCount(knownCount)} different assets known; ` +
    `${formatCount(seenAliveCount)} answered the verifier, ` +
    `${formatCount(revivedCount)} ${revivedCount === 1 ? "was" : "were"} found alive`;
  const assets = pages.flatMap((page) => page.assets);
  if (assets.length === 0) return `${summary}; none to list\n`;
  const columns = {
    "DEAD SINCE": ({ deadAt }: IncidentAsset) => withoutFraction(deadAt),
    TYPE: ({ assetType }: IncidentAsset) => assetType,
    "FOUND ALIVE": ({ revivedAt }: IncidentAsset) => (revivedAt === null ? null : withoutFraction(revivedAt)),
    ANSWER: ({ answer }: IncidentAsset) => answer,
    ORGANIZATION: ({ slug }: IncidentAsset) => slug,
    ASSET: ({ asset }: IncidentAsset) => breakAddress(asset),
  };
  return `${renderTable(assets, columns, { context })}\n${summary}\n`;
}

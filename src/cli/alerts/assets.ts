import { Option, type Command } from "commander";
import type { z } from "zod";

import { breakAddress } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import type { DaemonClient } from "../daemon-client.ts";
import {
  deadAssetPageSchema,
  incidentAssetPageSchema,
  type DeadAsset,
  type DeadAssetPage,
  type IncidentAsset,
  type IncidentAssetPage,
} from "../../contract/v1/dead-assets.ts";
import type { CliContext } from "../context.ts";
import { askDaemon, withDaemonFlags, type DaemonFlags } from "../daemon-flags.ts";
import { renderTable } from "../table.ts";
import { alertPath } from "./acts.ts";

interface AssetsFlags extends DaemonFlags {
  readonly stillDead?: boolean;
  readonly toRestore?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** `flatline alerts assets ID` */
export function addAlertAssets(parent: Command, context: CliContext): void {
  const command = parent
    .command("assets")
    .description("list the assets that died in an alert, newest first")
    .argument("<id>", "id that `alerts list` shows, live or ended, or its first digits");
  withAssetFlags(command, "{asset, assetType, deadAt, attributes, revivedAt}")
    .addHelpText("after", alertHelp)
    .action(async (given: string, flags: AssetsFlags) => {
      await askDaemon(flags, context, async (daemon) => {
        const path = `${await alertPath(daemon, given)}/assets`;
        await print(flags, context, daemon, path, deadAssetPageSchema);
      });
    });
}

/** `flatline incidents assets ID` */
export function addIncidentAssets(parent: Command, context: CliContext): void {
  const command = parent
    .command("assets")
    .description("list the assets that died in an incident, those first that flatline saw alive")
    .argument("<id>", "its number or id")
    .option("--to-restore", "only of alerts that are judged `checker`: what is to be brought back");
  withAssetFlags(command, "{slug, asset, assetType, deadAt, attributes, revivedAt, answer}")
    .addHelpText("after", incidentHelp)
    .action(async (id: string, flags: AssetsFlags) => {
      const path = `/api/v1/incidents/${encodeURIComponent(id)}/assets`;
      await askDaemon(flags, context, (daemon) => print(flags, context, daemon, path, incidentAssetPageSchema));
    });
}

function withAssetFlags(command: Command, fields: string): Command {
  command
    .option("--still-dead", "without those that were found alive since")
    .addOption(new Option("--csv", "print all as CSV, with the attributes of the events").conflicts("json"))
    .option("--json", `print one JSON object a line: ${fields}`);
  return withDaemonFlags(command);
}

const alertHelp = `
The table shows addresses broken, so that none is opened by mistake; --csv and --json have them as they are.

Examples:
  flatline alerts assets 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e
  flatline alerts assets 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e --still-dead --csv > revive.csv
`;

const incidentHelp = `
In order of harm: what showed life to the verifier (a second opinion), what events found alive since, the rest; of each
the newest first. The table shows addresses broken; --csv and --json have them as they are.

Examples:
  flatline incidents assets 41 --to-restore
  flatline incidents assets 41 --to-restore --still-dead --csv > restore.csv
`;

async function print(
  flags: AssetsFlags,
  context: CliContext,
  daemon: DaemonClient,
  path: string,
  schema: z.ZodType<DeadAssetPage | IncidentAssetPage>,
): Promise<void> {
  const filter = {
    ...(flags.stillDead === true ? { stillDead: "true" } : {}),
    ...(flags.toRestore === true ? { toRestore: "true" } : {}),
  };
  if (flags.csv === true) {
    const query = new URLSearchParams({ format: "csv", ...filter });
    context.stdout.write(await daemon.readText(`${path}?${query.toString()}`));
    return;
  }
  const assets: (DeadAsset | IncidentAsset)[] = [];
  let summary = "";
  for await (const page of readPages(daemon, path, filter, schema)) {
    if (flags.json === true) {
      context.stdout.write(page.assets.map((asset) => `${JSON.stringify(asset)}\n`).join(""));
      continue;
    }
    assets.push(...page.assets);
    summary = `${formatCount(page.count)} deaths, ${formatCount(page.knownCount)} different assets known`;
    if ("number" in page)
      summary += `; ${formatCount(page.seenAliveCount)} answered the verifier, ${formatCount(page.revivedCount)} ${page.revivedCount === 1 ? "is" : "are"} alive again`;
  }
  if (flags.json !== true) context.stdout.write(renderAssets(assets, summary, context));
}

function renderAssets(assets: readonly (DeadAsset | IncidentAsset)[], summary: string, context: CliContext): string {
  const [first] = assets;
  if (first === undefined) return `${summary}; none to list\n`;
  const rows = assets.map((one) => [
    withoutFraction(one.deadAt),
    one.assetType ?? "",
    one.revivedAt === null ? "" : withoutFraction(one.revivedAt),
    ...("slug" in one ? [one.answer ?? "", one.slug] : []),
    breakAddress(one.asset),
  ]);
  const more = "slug" in first ? ["ANSWER", "ORGANIZATION"] : [];
  return `${renderTable(["DEAD SINCE", "TYPE", "ALIVE AGAIN", ...more, "ASSET"], rows, { context })}\n${summary}\n`;
}

// As many as a page may have.
const pageLimit = "1000";

/** Reads all pages of a list of dead assets. */
async function* readPages(
  daemon: Pick<DaemonClient, "read">,
  path: string,
  filter: Readonly<Record<string, string>>,
  schema: z.ZodType<DeadAssetPage | IncidentAssetPage>,
): AsyncGenerator<DeadAssetPage | IncidentAssetPage> {
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: pageLimit, ...filter });
    if (cursor !== undefined) query.set("cursor", cursor);
    const page = await daemon.read(`${path}?${query.toString()}`, schema);
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

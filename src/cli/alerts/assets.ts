import { Option, type Command } from "commander";

import { breakAddress } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import type { DaemonClient } from "../daemon-client.ts";
import { type DeadAsset, deadAssetPageSchema, type DeadAssetPage } from "../../contract/v1/dead-assets.ts";
import type { CliContext } from "../context.ts";
import { askDaemon, withDaemonFlags, type DaemonFlags } from "../daemon-flags.ts";
import { renderTable } from "../table.ts";
import { alertPath } from "./acts.ts";

interface AssetsFlags extends DaemonFlags {
  readonly stillDead?: boolean;
  readonly csv?: boolean;
}

/** `flatline alerts assets ID` */
export function addAlertAssets(parent: Command, context: CliContext): void {
  const command = parent
    .command("assets")
    .description("list the assets that died in an alert, newest first")
    .argument("<id>", "id that `alerts list` shows, live or ended, or its first digits")
    .option("--still-dead", "without those that were found alive since")
    .addOption(new Option("--csv", "print all as CSV, with the attributes of the events").conflicts("json"))
    .option("--json", "print one JSON object a line: {asset, assetType, deadAt, attributes, revivedAt}");
  withDaemonFlags(command)
    .addHelpText("after", help)
    .action(async (given: string, flags: AssetsFlags) => {
      const filter = { stillDead: flags.stillDead === true };
      const read = async (daemon: DaemonClient, path: string): Promise<void> => {
        if (flags.csv === true) {
          context.stdout.write(await readAlertAssetsCsv(daemon, path, filter));
          return;
        }
        const assets: DeadAsset[] = [];
        let summary = "";
        for await (const page of readAlertAssets(daemon, path, filter)) {
          if (flags.json === true) {
            context.stdout.write(page.assets.map((asset) => `${JSON.stringify(asset)}\n`).join(""));
            continue;
          }
          assets.push(...page.assets);
          summary = `${formatCount(page.count)} deaths, ${formatCount(page.knownCount)} different assets known`;
        }
        if (flags.json !== true) context.stdout.write(renderAssets(assets, summary, context));
      };
      await askDaemon(flags, context, async (daemon) => read(daemon, `${await alertPath(daemon, given)}/assets`));
    });
}

const help = `
The table shows addresses broken, so that none is opened by mistake; --csv and --json have them as they are.

Examples:
  flatline alerts assets 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e
  flatline alerts assets 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e --still-dead --csv > revive.csv
`;

function renderAssets(assets: readonly DeadAsset[], summary: string, context: CliContext): string {
  if (assets.length === 0) return `${summary}; none to list\n`;
  const rows = assets.map(({ asset, assetType, deadAt, revivedAt }) => [
    withoutFraction(deadAt),
    assetType ?? "",
    revivedAt === null ? "" : withoutFraction(revivedAt),
    breakAddress(asset),
  ]);
  return `${renderTable(["DEAD SINCE", "TYPE", "ALIVE AGAIN", "ASSET"], rows, { context })}\n${summary}\n`;
}

// As many as a page may have.
const pageLimit = "1000";

/** Reads all pages of the assets that died in an alert, newest first. */
async function* readAlertAssets(
  daemon: Pick<DaemonClient, "read">,
  path: string,
  { stillDead }: { readonly stillDead: boolean },
): AsyncGenerator<DeadAssetPage> {
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: pageLimit, ...filterOf(stillDead) });
    if (cursor !== undefined) query.set("cursor", cursor);
    const page = await daemon.read(`${path}?${query.toString()}`, deadAssetPageSchema);
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** Reads the same as CSV, as one text. */
function readAlertAssetsCsv(
  daemon: Pick<DaemonClient, "readText">,
  path: string,
  { stillDead }: { readonly stillDead: boolean },
): Promise<string> {
  return daemon.readText(`${path}?${new URLSearchParams({ format: "csv", ...filterOf(stillDead) }).toString()}`);
}

function filterOf(stillDead: boolean): Record<string, string> {
  return stillDead ? { stillDead: "true" } : {};
}

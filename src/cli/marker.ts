import type { Command } from "commander";
import type { ListedMarker } from "../contract/v1/markers.ts";
import { breakAddresses } from "../base/broken-address.ts";
import { describeAuthor } from "../contract/actor.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { askDaemon, daemonConfigFlag, daemonTokenFlag, daemonUrlFlag, type DaemonFlags } from "./daemon-flags.ts";
import { renderTable } from "./table.ts";
import { parseInstant } from "./values.ts";

interface AddFlags extends DaemonFlags {
  readonly at?: number;
  readonly slug?: string;
  readonly createdBy?: string;
}

/** `flatline marker add|list|remove`, through the running daemon's HTTP API. */
export const registerMarker: RegisterCommand = (program: Command, context: CliContext): void => {
  const marker = program
    .command("marker")
    .description("mark rollouts and deployments, which alerts then name, through the running daemon");
  addAdd(marker, context);
  addList(marker, context);
  addRemove(marker, context);
};

function addAdd(parent: Command, context: CliContext): void {
  withAddress(parent.command("add"))
    .description("mark what was done, and when")
    .argument("<text>", "what was done, in a few words")
    .option("--at <time>", "when (ISO 8601 or epoch ms) [now]", parseInstant)
    .option("--slug <slug>", "the organization that it is about [all]")
    .option("--created-by <name>", "who [$USER]")
    .option("--json", "print the marker as JSON")
    .addHelpText("after", addHelp)
    .action(async (text: string, flags: AddFlags) => {
      const createdBy = flags.createdBy ?? context.env["USER"];
      const made = await askDaemon(flags, context, (daemon) =>
        daemon.addMarker({
          text,
          ...(flags.at === undefined ? {} : { atMs: flags.at }),
          ...(flags.slug === undefined ? {} : { slug: flags.slug }),
          ...(createdBy === undefined || createdBy === "" ? {} : { createdBy }),
        }),
      );
      context.stdout.write(flags.json === true ? json(made) : `${made.id}: «${made.text}» at ${made.at}\n`);
    });
}

const addHelp = `
An alert whose excess began within a day after it says so: "began 40 min after «captcha rollout»".

Examples:
  flatline marker add "captcha rollout"
  flatline marker add "checker 4.2 deployed" --at 2026-01-02T06:00:00Z --slug acme
`;

function addList(parent: Command, context: CliContext): void {
  withAddress(parent.command("list"))
    .description("list markers of the last 30 days, oldest first")
    .option("--from <time>", "from when on (ISO 8601 or epoch ms)", parseInstant)
    .option("--json", "print an array of {id, at, text, slug, createdBy, createdAt}")
    .addHelpText("after", "\nExample:\n  flatline marker list --json | jq -r '.[].text'\n")
    .action(async (flags: DaemonFlags & { readonly from?: number }) => {
      const markers = await askDaemon(flags, context, (daemon) => daemon.markers(flags.from ?? null));
      if (flags.json === true) context.stdout.write(json(markers));
      else if (markers.length === 0) context.stdout.write("there are no markers\n");
      else context.stdout.write(renderMarkers(markers, context));
    });
}

function addRemove(parent: Command, context: CliContext): void {
  withAddress(parent.command("remove"))
    .description("delete a marker")
    .argument("<id>", "id that `marker list` shows")
    .addHelpText("after", "\nExample:\n  flatline marker remove 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n")
    .action(async (id: string, flags: DaemonFlags) => {
      await askDaemon(flags, context, (daemon) => daemon.removeMarker(id));
      context.stdout.write(`${id}: deleted\n`);
    });
}

function withAddress(command: Command): Command {
  return command.addOption(daemonConfigFlag()).addOption(daemonUrlFlag()).addOption(daemonTokenFlag());
}

function renderMarkers(markers: readonly ListedMarker[], context: CliContext): string {
  const rows = markers.map(({ id, at, text, slug, createdBy, note }) => [
    at,
    slug ?? "(all)",
    breakAddresses(text),
    describeAuthor(createdBy ?? null, note),
    id,
  ]);
  return renderTable(["AT", "ORGANIZATION", "WHAT", "BY", "ID"], rows, { context });
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

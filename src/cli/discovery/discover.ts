import type { Command } from "commander";
import { acceptHeld, listSources, readHeld, type HeldView, type SourceView } from "./sources.ts";
import { loadCommandConfig } from "../command-config.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { askYesNo } from "../platform/confirmation.ts";
import { printable, renderTable } from "../table.ts";
import { asJson } from "../values.ts";

interface Flags {
  readonly config?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** `flatline discover list|accept` */
export const registerDiscover: RegisterCommand = (program: Command, context: CliContext): void => {
  const discover = program.command("discover").description("sources that list organizations, and lists held back");
  addList(discover, context);
  addAccept(discover, context);
};

function addList(parent: Command, context: CliContext): void {
  parent
    .command("list")
    .description("list the discovery sources, how their last refresh went, and what is held back")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print an array of {name, up, organizations, refreshedAt, problem, held}")
    .addHelpText("after", "\nExample:\n  flatline discover list\n")
    .action(async (flags: Flags) => {
      const config = await loadCommandConfig(flags.config, context);
      const sources = await listSources(config, context);
      if (flags.json === true) context.stdout.write(asJson(sources.map(viewSource)));
      else if (sources.length === 0) context.stdout.write("the configuration has no discovery source\n");
      else context.stdout.write(renderSources(sources, context));
    });
}

function addAccept(parent: Command, context: CliContext): void {
  parent
    .command("accept")
    .description("show the list of a source that is held back, and apply exactly that list")
    .argument("<name>", "discovery source")
    .option("-c, --config <file>", "configuration file")
    .option("--yes", "do not ask on a terminal")
    .option("--json", "print {name, reason, organizations, added, removed}")
    .addHelpText("after", acceptHelp)
    .action(async (name: string, flags: Flags) => {
      const config = await loadCommandConfig(flags.config, context);
      const held = await readHeld(config, context, name);
      const { change, reason } = held;
      context.stdout.write(flags.json === true ? asJson({ name, reason, ...change }) : renderHeld(held));
      const isAsked = flags.yes !== true && context.stdin.isTTY === true;
      if (isAsked && !(await askYesNo("Apply it? [y/N] ", context))) {
        context.stderr.write("nothing was applied\n");
        context.setExitCode(1);
        return;
      }
      await acceptHeld(config, context, held);
      context.stderr.write("applied; a running daemon follows within 2 s\n");
    });
}

const acceptHelp = `
A list is held back when it is empty after one that was not, or would remove more than half of the organizations of the last
one (and at least 5); the latter is applied by itself once three refreshes in a row gave the same organizations. When the
source gives another list while this command shows one, nothing is applied.

Exit code: 0 applied; 1 nothing is held back, the list has changed meanwhile, or you said no; 64 an unknown source.

Example:
  flatline discover accept crm
`;

function viewSource({ name, state, organizations, held }: SourceView): object {
  return {
    name,
    up: state !== null && state.problem === null,
    organizations,
    refreshedAt: state === null ? null : new Date(state.refreshedAtMs).toISOString(),
    problem: state?.problem ?? null,
    held: held === null ? null : { reason: state?.held?.reason ?? null, ...held },
  };
}

function renderSources(sources: readonly SourceView[], context: CliContext): string {
  const rows = sources.map(({ name, state, organizations, held }) => [
    name,
    stateOf(state),
    String(organizations),
    state === null ? "–" : new Date(state.refreshedAtMs).toISOString(),
    held === null
      ? (state?.problem ?? "")
      : `its last list would remove ${held.removed.length} and add ${held.added.length}: flatline discover accept ${name}`,
  ]);
  return renderTable(["SOURCE", "STATE", "ORGANIZATIONS", "REFRESHED", ""], rows, {
    right: ["ORGANIZATIONS"],
    context,
  });
}

function stateOf(state: SourceView["state"]): string {
  if (state === null) return "not asked";
  if (state.problem !== null) return "failing";
  return state.held === null ? "up" : "held";
}

function renderHeld({ name, reason, change }: HeldView): string {
  const { added, removed, organizations } = change;
  const why = reason === "empty" ? "it is empty" : "it removes more than half";
  const lines = [...removed.map((slug) => `- ${slug}`), ...added.map((slug) => `+ ${slug}`)];
  const head = `${name} lists ${organizations} organizations and is held back because ${why}: ${removed.length} removed, ${added.length} added`;
  return `${[head, ...lines].map(printable).join("\n")}\n`;
}

import type { Command } from "commander";
import { FlatlineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggestions.ts";
import type { Config } from "../../config/config.ts";
import { actor } from "../../contract/actor.ts";
import { applyList, compareLists, type ListChange } from "../../discovery/applied.ts";
import type { DiscoveryState } from "../../store/discovery/discovered-lists.ts";
import { loadCommandConfig } from "../command-config.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { askYesNo } from "../confirmation.ts";
import { printable, renderTable } from "../table.ts";
import { asJson } from "../values.ts";
import { withStore, type OpenedStore } from "../with-store.ts";

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

/** A discovery source as the store knows it. */
interface SourceView {
  readonly name: string;
  /** null: the daemon has not asked it yet. */
  readonly state: DiscoveryState | null;
  /** In the list that holds. */
  readonly organizations: number;
  /** What the list that is held back would change; null: none is. */
  readonly held: ListChange | null;
}

/** Returns the sources of the configuration, in its order. */
function listSources(config: Config, context: CliContext): Promise<SourceView[]> {
  return withStore(config, context, ({ store }) =>
    Promise.all(
      config.discover.map(async ({ name }) => {
        const state = await store.discovery.state(name);
        const applied = (await store.discovery.list(name, "applied")) ?? [];
        const held = await store.discovery.list(name, "held");
        return {
          name,
          state,
          organizations: applied.length,
          held: held === null ? null : compareLists(applied, held),
        };
      }),
    ),
  );
}

/** A list that is held back, as it was read. */
interface HeldView {
  readonly name: string;
  readonly reason: "empty" | "shrunk";
  /** Names the list: another one has another. */
  readonly digest: string;
  readonly change: ListChange;
}

/** Reads the list of a source that is held back. @throws usage for an unknown source, conflict when it holds none back */
function readHeld(config: Config, context: CliContext, name: string): Promise<HeldView> {
  const names = config.discover.map((source) => source.name);
  if (!names.includes(name))
    throw new FlatlineError("usage", `no discovery source is named ${JSON.stringify(name)}${suggest(name, names)}`);
  return withStore(config, context, async ({ store }) => {
    const state = await store.discovery.state(name);
    const list = await store.discovery.list(name, "held");
    const held = state?.held ?? null;
    if (list === null || held === null)
      throw new FlatlineError("conflict", `the source ${name} holds no list back: there is nothing to accept`);
    const applied = (await store.discovery.list(name, "applied")) ?? [];
    const { reason, digest } = held;
    return { name, reason, digest, change: compareLists(applied, list) };
  });
}

/** Applies the held list that was read, and no other; the daemon follows. @throws conflict when it is another one by now */
function acceptHeld(config: Config, context: CliContext, { name, digest }: HeldView): Promise<ListChange> {
  const by = actor(context.userName(), "cli");
  const accept = ({ store }: OpenedStore): Promise<ListChange> =>
    store.transaction(async (parts) => {
      const state = await parts.discovery.state(name);
      const after = await parts.discovery.list(name, "held");
      if (state?.held?.digest !== digest || after === null)
        throw new FlatlineError(
          "conflict",
          `the source ${name} gave another list meanwhile, and nothing was applied: run the command again to see it`,
        );
      const before = (await parts.discovery.list(name, "applied")) ?? [];
      const nowMs = context.clock.nowMs();
      return applyList(parts, state, { before, after, digest, nowMs, action: "discovery.accept", actor: by });
    });
  return withStore(config, context, accept, { writes: true });
}

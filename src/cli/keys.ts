import { InvalidArgumentError, Option, type Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { withStore, type WithStoreOptions } from "./with-store.ts";
import type { Config } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import { createKeyActs } from "../service/key-acts.ts";
import type { KeyRole, StoredKey } from "../store/platform/api-keys.ts";
import type { Store } from "../store/store.ts";
import { loadCommandConfig, loadFleetConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { asJson } from "./values.ts";

interface KeyFlags {
  readonly config?: string;
  readonly json?: boolean;
}

interface CreateFlags extends KeyFlags {
  readonly organization: readonly string[];
  readonly role: KeyRole;
  readonly name: string;
}

/** `flatline keys create|list|revoke`; all work while the daemon runs. */
export const registerKeys: RegisterCommand = (program: Command, context: CliContext): void => {
  const keys = program.command("keys").description("API keys of the embedded service");
  addCreate(keys, context);
  addList(keys, context);
  addRevoke(keys, context);
};

const createHelp = `
The key is printed once, alone on stdout; only its SHA-256 is stored. A running daemon takes it at once. An organization
that is not there yet is reached once it is configured, imported or sends events.

Examples:
  flatline keys create --organization acme --name "soc scripts"
  FLATLINE_API_KEY=$(flatline keys create --organization acme globex --role staff)
`;

function addCreate(keys: Command, context: CliContext): void {
  keys
    .command("create")
    .description("make a key and print it, once")
    .requiredOption("--organization <slug...>", "organizations that it reaches", collectSlugs)
    .addOption(
      new Option("--role <role>", "customer keys may review proposals, staff keys only read")
        .choices(["customer", "staff"])
        .default("customer"),
    )
    .option("--name <name>", "what it is for, shown by `keys list`", "")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print {id, name, role, organizations, createdAt, key}")
    .addHelpText("after", createHelp)
    .action(async (flags: CreateFlags) => {
      const { config } = await loadFleetConfig(flags.config, context);
      const { organization, role, name } = flags;
      const organizations = [...new Set(organization)];
      const known = new Set(config.organizations.map(({ slug }) => slug));
      const create = async (store: Store) => {
        for (const slug of await store.platform.organizations.slugs()) known.add(slug);
        const by = actor(context.userName(), "cli");
        return createKeyActs({ store, clock: context.clock }).create({ name, role, organizations }, by);
      };
      const { key, stored } = await withEmbeddedStore(config, context, create, { mustExist: false, writes: true });
      for (const slug of organizations.filter((one) => !known.has(one)))
        context.stderr.write(`flatline: there is no organization ${slug} yet; the key reaches it once it is there\n`);
      context.stderr.write(`key ${stored.id}: keep it now, it is not shown again\n`);
      context.stdout.write(flags.json === true ? asJson({ ...viewKey(stored), key }) : `${key}\n`);
    });
}

/** The organizations so far and one more. An empty one comes of a variable that is not set, and would reach nothing. */
function collectSlugs(slug: string, before: readonly string[] = []): readonly string[] {
  if (slug === "") throw new InvalidArgumentError("Expected the slug of an organization.");
  return [...before, slug];
}

function addList(keys: Command, context: CliContext): void {
  keys
    .command("list")
    .description("list the valid keys, without the keys themselves")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print an array of {id, name, role, organizations, createdAt}")
    .addHelpText("after", "\nExample:\n  flatline keys list --json | jq -r '.[].id'\n")
    .action(async (flags: KeyFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const list = (store: Store) => createKeyActs({ store, clock: context.clock }).list();
      const views = (await withEmbeddedStore(config, context, list)).map(viewKey);
      if (flags.json === true) {
        context.stdout.write(asJson(views));
        return;
      }
      const rows = views.map(({ id, name, role, organizations, createdAt }) => [
        id,
        role,
        organizations.join(", "),
        createdAt,
        name,
      ]);
      const head = ["ID", "ROLE", "ORGANIZATIONS", "CREATED", "NAME"];
      context.stdout.write(rows.length === 0 ? "there are no keys\n" : renderTable(head, rows, { context }));
    });
}

function addRevoke(keys: Command, context: CliContext): void {
  keys
    .command("revoke")
    .description("end a key at once, for a running daemon too")
    .argument("<id>", "id that `keys list` shows")
    .option("-c, --config <file>", "configuration file")
    .addHelpText("after", "\nExample:\n  flatline keys revoke key_0d1c7a52b9e84f36\n")
    .action(async (id: string, flags: KeyFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const by = actor(context.userName(), "cli");
      const revoke = (store: Store) => createKeyActs({ store, clock: context.clock }).revoke(id, by);
      if (!(await withEmbeddedStore(config, context, revoke, { writes: true })))
        throw new FlatlineError("not_found", `there is no valid key ${id}`);
      context.stdout.write(`${id}: revoked\n`);
    });
}

function viewKey({ id, name, role, organizations, createdAtMs }: StoredKey) {
  return { id, name, role, organizations, createdAt: new Date(createdAtMs).toISOString() };
}

/** Opens the store of the embedded service, beside a running daemon. @throws usage with a remote source */
export async function withEmbeddedStore<Result>(
  config: Config,
  deps: PartsDeps,
  work: (store: Store) => Promise<Result>,
  options: WithStoreOptions = {},
): Promise<Result> {
  if (!config.source.holdsEvents)
    throw new FlatlineError(
      "usage",
      `this command needs source.type: embedded; the configuration has source.type ${config.source.type}`,
    );
  return withStore(config, deps, ({ store }) => work(store), options);
}

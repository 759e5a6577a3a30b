import { InvalidArgumentError, Option, type Command } from "commander";
import { z } from "zod";

import { listedKeySchema, madeKeySchema } from "../contract/v1/operator.ts";
import { askingCommand, recode } from "./ask.ts";
import type { AskFlags, CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";

interface CreateFlags extends AskFlags {
  readonly organization: readonly string[];
  readonly role: string;
  readonly name: string;
}

const path = "/api/v1/keys";
// Another source has no keys.
const orUsage = recode({ conflict: "usage" });

/** `flatline keys create|list|revoke` */
export const registerKeys: RegisterCommand = (program: Command, context: CliContext): void => {
  const keys = program.command("keys").description("API keys of the embedded service");
  addCreate(keys, context);
  askingCommand(keys.command("list").description("list the valid keys, without the keys themselves"), context, {
    without: "store",
    json: "print an array of {id, name, role, organizations, createdAt}",
    help: "\nExample:\n  flatline keys list --json | jq -r '.[].id'\n",
    ask: (api) => api.read(path, z.array(listedKeySchema)).catch(orUsage),
    say: (listed) =>
      renderTable(
        listed,
        {
          ID: ({ id }) => id,
          ROLE: ({ role }) => role,
          ORGANIZATIONS: ({ organizations }) => organizations.join(", "),
          CREATED: ({ createdAt }) => createdAt,
          NAME: ({ name }) => name,
        },
        { empty: "there are no keys", context },
      ),
  });
  const revoke = keys
    .command("revoke")
    .description("end a key at once, for a running daemon too")
    .argument("<id>", "id that `keys list` shows");
  askingCommand(revoke, context, {
    acts: true,
    without: "store",
    help: "\nExample:\n  flatline keys revoke key_0d1c7a52b9e84f36\n",
    ask: (api, _flags, id: string) =>
      api.send("DELETE", `${path}/${encodeURIComponent(id)}`, undefined, z.unknown()).catch(orUsage),
    say: (_answer, _flags, [id]) => `${id}: revoked\n`,
  });
};

const createHelp = `
The key is printed once, alone on stdout; only its SHA-256 is stored. A running daemon takes it at once. An organization
that is not there yet is reached once it is configured, imported or sends events.

Examples:
  flatline keys create --organization acme --name "soc scripts"
  FLATLINE_API_KEY=$(flatline keys create --organization acme globex --role staff)
`;

function addCreate(keys: Command, context: CliContext): void {
  const command = keys
    .command("create")
    .description("make a key and print it, once")
    .requiredOption("--organization <slug...>", "organizations that it reaches", collectSlugs)
    .addOption(
      new Option("--role <role>", "customer keys may review proposals, staff keys only read")
        .choices(["customer", "staff"])
        .default("customer"),
    )
    .option("--name <name>", "what it is for, shown by `keys list`", "");
  askingCommand(command, context, {
    json: "print {id, name, role, organizations, createdAt, key}",
    help: createHelp,
    acts: true,
    without: "new store",
    ask: async (api, { organization: organizations, role, name }: CreateFlags) => {
      const sent = api.send("POST", path, { organizations, role, name }, madeKeySchema);
      const { unknown = [], ...made } = await sent.catch(orUsage);
      for (const slug of unknown)
        context.stderr.write(`flatline: there is no organization ${slug} yet; the key reaches it once it is there\n`);
      context.stderr.write(`key ${made.id}: keep it now, it is not shown again\n`);
      return made;
    },
    say: ({ key }) => `${key}\n`,
  });
}

/** The organizations so far and one more. An empty one comes of a variable that is not set, and would reach nothing. */
function collectSlugs(slug: string, before: readonly string[] = []): readonly string[] {
  if (slug === "") throw new InvalidArgumentError("Expected the slug of an organization.");
  return [...before, slug];
}

import { InvalidArgumentError } from "commander";
import { z } from "zod";

import { listedKeySchema, madeKeySchema } from "../contract/v1/operator.ts";
import { asking, recode } from "./ask.ts";
import { choice, group, or, required, value } from "./command.ts";
import { renderTable } from "./table.ts";

const path = "/api/v1/keys";
// The API answers conflict when the source has no keys.
const orUsage = recode({ conflict: "usage" });

const create = asking({
  description: "make a key and print it, once",
  flags: {
    organization: required(value("<slug...>", "organizations that it reaches", collectSlugs)),
    role: or(
      choice("<role>", "customer keys may review proposals, staff keys only read", ["customer", "staff"]),
      "customer",
    ),
    name: or(value("<name>", "what it is for, shown by `keys list`"), ""),
  },
  acts: true,
  without: "new store",
  json: "print {id, name, role, organizations, createdAt, key}",
  help: `
The key is printed once, alone on stdout; only its SHA-256 is stored. A running daemon takes it at
once. An organization that is not there yet is reached once it is configured, imported or sends events.

Examples:
  flatline keys create --organization acme --name "soc scripts"
  FLATLINE_API_KEY=$(flatline keys create --organization acme globex --role staff)
`,
  ask: async ({ api, context, flags: { organization: organizations, role, name } }) => {
    const sent = api.send("POST", path, { organizations, role, name }, madeKeySchema);
    const { unknown = [], ...made } = await sent.catch(orUsage);
    for (const slug of unknown)
      context.stderr.write(`flatline: there is no organization ${slug} yet; the key reaches it once it is there\n`);
    context.stderr.write(`key ${made.id}: keep it now, it is not shown again\n`);
    return made;
  },
  say: ({ key }) => `${key}\n`,
});

/** Adds an organization; an empty one is refused, because a variable that is not set would reach nothing. */
function collectSlugs(slug: string, before: readonly string[] = []): readonly string[] {
  if (slug === "") throw new InvalidArgumentError("Expected the slug of an organization.");
  return [...before, slug];
}

export const keys = group("API keys of the embedded service", {
  create,
  list: asking({
    description: "list the valid keys, without the keys themselves",
    without: "store",
    json: "print an array of {id, name, role, organizations, createdAt}",
    help: "\nExample:\n  flatline keys list --json | jq -r '.[].id'\n",
    ask: ({ api }) => api.read(path, z.array(listedKeySchema)).catch(orUsage),
    say: (listed, { context }) =>
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
  }),
  revoke: asking({
    description: "end a key at once, for a running daemon too",
    words: [["<id>", "id that `keys list` shows"]],
    acts: true,
    without: "store",
    help: "\nExample:\n  flatline keys revoke key_0d1c7a52b9e84f36\n",
    ask: async ({ api, words: [id] }) => {
      await api.send("DELETE", `${path}/${encodeURIComponent(id)}`, undefined, z.unknown()).catch(orUsage);
      return id;
    },
    say: (id) => `${id}: revoked\n`,
  }),
});

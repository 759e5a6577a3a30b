import type { Command } from "commander";
import { z } from "zod";

import { markerSchema } from "../contract/v1/operator.ts";
import { breakAddresses } from "../base/broken-address.ts";
import { describeAuthor } from "../contract/actor.ts";
import { actingOnEach, askingCommand } from "./ask.ts";
import { authorOf, type AskFlags, type CliContext, type RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { parseInstant } from "./values.ts";

interface AddFlags extends AskFlags {
  readonly at?: number;
  readonly slug?: string;
}

const path = "/api/v1/markers";

/** `flatline marker add|list|remove`. */
export const registerMarker: RegisterCommand = (program: Command, context: CliContext): void => {
  const marker = program.command("marker").description("mark rollouts and deployments, which alerts then name");
  addAdd(marker, context);
  addList(marker, context);
  const remove = marker.command("remove").description("delete markers");
  actingOnEach(remove, context, { path, shownBy: "marker list", done: "deleted" });
};

function addAdd(parent: Command, context: CliContext): void {
  const command = parent
    .command("add")
    .description("mark what was done, and when")
    .argument("<text>", "what was done, in a few words")
    .option("--at <time>", "when (ISO 8601 or epoch ms) [now]", parseInstant)
    .option("--slug <slug>", "the organization that it is about [all]");
  askingCommand(command, context, {
    json: "print the marker as JSON",
    acts: true,
    help: addHelp,
    ask: (api, { at, slug, by }: AddFlags, text: string) => {
      const atText = at === undefined ? undefined : new Date(at).toISOString();
      const body = { text, at: atText, slug, createdBy: authorOf(by, context) };
      return api.send("POST", path, body, markerSchema);
    },
    say: ({ id, text, at }) => `${id}: «${text}» at ${at}\n`,
  });
}

const addHelp = `
An alert whose deaths began within a day after it says so: "began 40 min after «captcha rollout»".

Examples:
  flatline marker add "captcha rollout"
  flatline marker add "checker 4.2 deployed" --at 2026-01-02T06:00:00Z --slug acme
`;

function addList(parent: Command, context: CliContext): void {
  const command = parent
    .command("list")
    .description("list markers of the last 30 days, oldest first")
    .option("--from <time>", "from when on (ISO 8601 or epoch ms)", parseInstant);
  askingCommand(command, context, {
    json: "print an array of {id, at, text, slug, createdBy, createdAt}",
    help: "\nExample:\n  flatline marker list --json | jq -r '.[].text'\n",
    ask: (api, { from }: AskFlags & { readonly from?: number }) => {
      const range = from === undefined ? "" : `?from=${encodeURIComponent(new Date(from).toISOString())}`;
      return api.read(`${path}${range}`, z.array(markerSchema));
    },
    say: (listed) =>
      renderTable(
        listed,
        {
          AT: ({ at }) => at,
          ORGANIZATION: ({ slug }) => slug ?? "(all)",
          WHAT: ({ text }) => breakAddresses(text),
          BY: ({ createdBy, note }) => describeAuthor(createdBy ?? null, note),
          ID: ({ id }) => id,
        },
        { empty: "there are no markers", context },
      ),
  });
}

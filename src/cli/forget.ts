import type { Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import { forgottenSchema } from "../contract/v1/operator.ts";
import { askingCommand } from "./ask.ts";
import type { AskFlags, CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { parseInstant } from "./values.ts";

interface ForgetFlags extends AskFlags {
  readonly yes?: boolean;
  readonly events?: boolean;
  readonly from?: number;
  readonly to?: number;
}

/** `flatline forget SLUG --yes` */
export const registerForget: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("forget")
    .description("remove everything stored of an organization that is no longer configured")
    .argument("<slug>", "the organization")
    .option("--events", "remove its events only, whether it is configured or not")
    .option("--from <time>", "with --events: only from this time on", parseInstant)
    .option("--to <time>", "with --events: only before this time", parseInstant)
    .option("--yes", "remove it; nothing brings it back");
  askingCommand(command, context, {
    json: "print how many rows of each kind were removed",
    help,
    acts: true,
    without: "store",
    ask: async (api, { events, from, to, yes = false }: ForgetFlags, slug: string) => {
      if (events !== true && (from !== undefined || to !== undefined))
        throw new FlatlineError("usage", "--from and --to go with --events");
      const [start, end] = [from, to].map((atMs) => (atMs === undefined ? undefined : new Date(atMs).toISOString()));
      const path = `/api/v1/organizations/${encodeURIComponent(slug)}/forget${yes ? "" : "?dryRun=true"}`;
      const removed = await api.send("POST", path, { events, from: start, to: end }, forgottenSchema, { isSlow: true });
      if (yes) return removed;
      const what = events === true ? "events" : "events, history, alerts, silences, markers, keys and API v2's records";
      const message = `forget removes ${what} of ${JSON.stringify(slug)} for good: nothing was removed; --yes removes them`;
      throw new FlatlineError("usage", message);
    },
    say: (removed) => {
      const columns = {
        REMOVED: ([kind]: [string, number]) => kind,
        ROWS: ([, count]: [string, number]) => formatCount(count),
      };
      return renderTable(Object.entries(removed), columns, { right: ["ROWS"], context });
    },
  });
};

const help = `
Take the organization out of the configuration and reload first. Keys that reach others too, assets, which belong to no
organization, and the audit stay; what is still to be delivered is delivered. What is interrupted goes on when it is asked
for again.

Examples:
  flatline forget acme --yes
  flatline forget acme --events --from 2026-01-02T00:00:00Z --to 2026-01-03T00:00:00Z --yes
`;

import type { Command } from "commander";
import { withoutFraction } from "../base/instant.ts";
import { breakAddresses } from "../base/broken-address.ts";
import { withStore } from "./with-store.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { asJson, parseInstant, parseNumber } from "./values.ts";

interface AuditFlags {
  readonly config?: string;
  readonly since?: number;
  readonly until?: number;
  readonly actor?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const defaultLimit = 100;

/** `flatline audit`, from the store: it works while the daemon runs, and without it. */
export const registerAudit: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("audit")
    .description("list who did what, newest first")
    .option("--since <time>", "from this time on", parseInstant)
    .option("--until <time>", "up to this time", parseInstant)
    .option("--actor <name>", "of one author: a token's name, a user, a key's name")
    .option("--limit <n>", "at most so many rows", parseNumber("int"), defaultLimit)
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print an array of {id, at, actor, via, action, slug, subject, detail}")
    .addHelpText(
      "after",
      "\nExamples:\n  flatline audit --actor night-shift --since 2026-11-01T00:00:00Z\n  flatline audit --json | jq -r '.[] | select(.action == \"release\") | .detail.comment'\n",
    )
    .action(async (flags: AuditFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const { since, until, actor, limit } = flags;
      const query = {
        ...(since === undefined ? {} : { sinceMs: since }),
        ...(until === undefined ? {} : { untilMs: until }),
        ...(actor === undefined ? {} : { actor }),
        limit,
      };
      const found = await withStore(config, context, ({ store }) => store.audit.list(query));
      const entries = found.map(({ id, atMs, ...entry }) => ({
        id: String(id),
        at: new Date(atMs).toISOString(),
        ...entry,
      }));
      if (flags.json === true) {
        context.stdout.write(asJson(entries));
        return;
      }
      if (entries.length === 0) {
        const isNarrowed = since !== undefined || until !== undefined || actor !== undefined;
        context.stdout.write(isNarrowed ? "no act matches these flags\n" : "no act is recorded yet\n");
        return;
      }
      const rows = entries.map(({ at, actor: name, via, action, slug, subject, detail }) => [
        withoutFraction(at),
        name,
        via,
        action,
        slug ?? "",
        subject ?? "",
        describeDetail(detail),
      ]);
      const head = ["AT", "ACTOR", "VIA", "ACTION", "ORGANIZATION", "SUBJECT", "DETAIL"];
      context.stdout.write(renderTable(head, rows, { context }));
    });
};

function describeDetail(detail: Readonly<Record<string, unknown>>): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}=${breakAddresses(typeof value === "string" ? value : JSON.stringify(value))}`)
    .join(" ");
}

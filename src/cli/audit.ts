import type { Command } from "commander";
import { withoutFraction } from "../base/instant.ts";
import { breakAddresses } from "../base/broken-address.ts";
import { auditSchema, type AuditAnswer } from "../contract/v1/operator.ts";
import { askingCommand } from "./ask.ts";
import type { AskFlags, CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { parseInstant, parseNumber } from "./values.ts";

interface AuditFlags extends AskFlags {
  readonly since?: number;
  readonly until?: number;
  readonly actor?: string;
  readonly limit: number;
}

type Entry = AuditAnswer["entries"][number];

const defaultLimit = 100;
const mostOnPage = 1_000;

/** `flatline audit` */
export const registerAudit: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("audit")
    .description("list who did what, newest first")
    .option("--since <time>", "from this time on", parseInstant)
    .option("--until <time>", "up to this time", parseInstant)
    .option("--actor <name>", "of one author: a token's name, a user, a key's name")
    .option("--limit <n>", "at most so many rows", parseNumber("int"), defaultLimit);
  askingCommand(command, context, {
    without: "store",
    json: "print an array of {id, at, actor, via, action, slug, subject, detail}",
    help: "\nExamples:\n  flatline audit --actor night-shift --since 2026-11-01T00:00:00Z\n  flatline audit --json | jq -r '.[] | select(.action == \"release\") | .detail.comment'\n",
    ask: async (api, { since, until, actor, limit }: AuditFlags) => {
      const query = new URLSearchParams({
        ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
        ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
        ...(actor === undefined ? {} : { actor }),
      });
      const entries: Entry[] = [];
      do {
        query.set("limit", String(Math.min(mostOnPage, limit - entries.length)));
        const page = await api.read(`/api/v1/audit?${query.toString()}`, auditSchema);
        entries.push(...page.entries);
        query.set("cursor", page.cursor ?? "");
      } while (query.get("cursor") !== "" && entries.length < limit);
      return entries;
    },
    say: (entries, { since, until, actor }) => {
      const isNarrowed = since !== undefined || until !== undefined || actor !== undefined;
      return renderTable<Entry>(
        entries,
        {
          AT: ({ at }) => withoutFraction(at),
          ACTOR: ({ actor: name }) => name,
          VIA: ({ via }) => via,
          ACTION: ({ action }) => action,
          ORGANIZATION: ({ slug }) => slug,
          SUBJECT: ({ subject }) => subject,
          DETAIL: ({ detail }) => describeDetail(detail),
        },
        { empty: isNarrowed ? "no act matches these flags" : "no act is recorded yet", context },
      );
    },
  });
};

function describeDetail(detail: Readonly<Record<string, unknown>>): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}=${breakAddresses(typeof value === "string" ? value : JSON.stringify(value))}`)
    .join(" ");
}

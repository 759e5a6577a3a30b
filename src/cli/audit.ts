import { breakAddresses } from "../base/broken-address.ts";
import { withoutFraction } from "../base/instant.ts";
import { auditSchema, type AuditAnswer } from "../contract/v1/operator.ts";
import { pagesOf } from "./api-client.ts";
import { asking } from "./ask.ts";
import { or, value } from "./command.ts";
import { renderTable } from "./table.ts";
import { parseNumber, parseTime } from "./values.ts";

const mostOnPage = 1_000;

export const audit = asking({
  description: "list who did what, newest first",
  flags: {
    since: value("<time>", "from this time on", parseTime),
    until: value("<time>", "up to this time", parseTime),
    actor: value("<name>", "of one author: a token's name, a user, a key's name"),
    limit: or(value("<n>", "at most so many rows", parseNumber("int")), 100),
  },
  without: "store",
  json: "print an array of {id, at, actor, via, action, slug, subject, detail}",
  help:
    "\nExamples:\n  flatline audit --actor night-shift --since 2026-11-01T00:00:00Z\n" +
    "  flatline audit --json | jq -r '.[] | select(.action == \"release\") | .detail.comment'\n",
  ask: async ({ api, flags: { since, until, actor, limit } }) => {
    const entries: AuditAnswer["entries"][number][] = [];
    const query = { since, until, actor, limit: Math.min(mostOnPage, limit) };
    for await (const page of pagesOf(api, "/api/v1/audit", auditSchema, query))
      if (entries.push(...page.entries) >= limit) break;
    return entries.slice(0, limit);
  },
  say: (entries, { context, flags: { since, until, actor } }) =>
    renderTable(
      entries,
      {
        AT: ({ at }) => withoutFraction(at),
        ACTOR: ({ actor: name }) => name,
        VIA: ({ via }) => via,
        ACTION: ({ action }) => action,
        ORGANIZATION: ({ slug }) => slug,
        SUBJECT: ({ subject }) => subject,
        DETAIL: ({ detail }) =>
          Object.entries(detail)
            .map(([name, said]) => `${name}=${breakAddresses(typeof said === "string" ? said : JSON.stringify(said))}`)
            .join(" "),
      },
      { empty: (since ?? until ?? actor) ? "no act matches these flags" : "no act is recorded yet", context },
    ),
});

import { FlatlineError } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import { forgottenSchema } from "../contract/v1/operator.ts";
import { asking } from "./ask.ts";
import { flag, value } from "./command.ts";
import { renderTable } from "./table.ts";
import { parseTime } from "./values.ts";

export const forget = asking({
  description: "remove everything stored of an organization that is no longer configured",
  words: [["<slug>", "the organization"]],
  flags: {
    events: flag("remove its events only, whether it is configured or not"),
    from: value("<time>", "with --events: only from this time on", parseTime),
    to: value("<time>", "with --events: only before this time", parseTime),
    yes: flag("remove it; nothing brings it back"),
  },
  acts: true,
  without: "store",
  json: "print how many rows of each kind were removed",
  help: `
Take the organization out of the configuration and reload first. Keys that reach others too, assets,
which belong to no organization, and the audit stay; what is still to be delivered is delivered.
What is interrupted goes on when it is asked for again.

Examples:
  flatline forget acme --yes
  flatline forget acme --events --from 2026-01-02T00:00:00Z --to 2026-01-03T00:00:00Z --yes
`,
  ask: async ({ api, flags: { events, from, to, yes = false }, words: [slug] }) => {
    if (events !== true && (from !== undefined || to !== undefined))
      throw new FlatlineError("usage", "--from and --to go with --events");
    const path = `/api/v1/organizations/${encodeURIComponent(slug)}/forget${yes ? "" : "?dryRun=true"}`;
    const removed = await api.send("POST", path, { events, from, to }, forgottenSchema, { isSlow: true });
    if (yes) return removed;
    const what = events === true ? "events" : "events, history, alerts, silences, markers, keys and API v2's records";
    throw new FlatlineError(
      "usage",
      `forget removes ${what} of ${JSON.stringify(slug)} for good: nothing was removed; --yes removes them`,
    );
  },
  say: (removed, { context }) =>
    renderTable(
      Object.entries(removed),
      { REMOVED: ([kind]) => kind, ROWS: ([, count]) => formatCount(count) },
      { right: ["ROWS"], context },
    ),
});

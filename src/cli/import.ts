import { resolve } from "node:path";

import { InvalidArgumentError } from "commander";
import { z } from "zod";

import { excerpt } from "../base/outside-text.ts";
import { readInstant } from "../base/instant.ts";
import { formatCount } from "../base/numbers.ts";
import { readFixtureText } from "../config/document/files.ts";
import { secondMs } from "../base/time.ts";
import { withInstants } from "../contract/v1/instant.ts";
import { fixtureCountsSchema, importAnswerSchema, importBegunSchema } from "../contract/v1/operator.ts";
import { addAnswers, importEvents, noAnswer, type ImportOutcome, type ImportTarget } from "../store/events/import.ts";
import type { LivenessEvent } from "../store/events/rules.ts";
import { eventsText, otherStatusesText } from "../words/incoming.ts";
import { countOf } from "../words/numbers.ts";
import type { ApiClient } from "./api-client.ts";
import { askFlags, asking, byFlag, recode } from "./ask.ts";
import { command, flag, group, value } from "./command.ts";
import { createProgressLine } from "./context.ts";
import { askApi } from "./door.ts";
import { eventFilesOf, eventFlags, layoutOf } from "./event-flags.ts";

const events = command({
  description: "load liveness events; all files are checked first, and what is cut off is completed by the same again",
  words: [["<file...>", "CSV with a header, NDJSON or a JSON array, plain or gzipped; - is standard input"]],
  flags: {
    ...eventFlags,
    ...byFlag,
    ...askFlags,
    rebase: value(
      "<time>",
      "shift all events so that the newest is at this time (ISO 8601, epoch ms or now)",
      parseRebase,
    ),
    dryRun: flag("check and count all, store nothing"),
  },
  json: "print {files, received, stored, duplicates, conflicts, firstAt, lastAt, slugs, deaths, otherStatuses}",
  help: `
Columns or keys: at and slug, and when wanted assetType, asset, status [DETECTED_AS_DEAD], id, count
[1]. The same id of the same slug counts once, and so does a row without one that says the same. at
is from 2000 to 10 min ahead of now (--any-time: of the years 1970 to 9999), count a whole number up
to 1000000000. A bad line: its number and reason, nothing imported, exit code 65.
Files of others: --map COLUMN=FIELD, also COLUMN=attr.NAME, and COLUMN=at.seconds for seconds since 1970.
A time without an offset needs --timezone; of a time that comes twice when the clocks go back, it is
the first one.

Examples:
  flatline import events events.csv.gz
  flatline import events --map timestamp=at,customer=slug --timezone Europe/Berlin export.csv
  flatline import events --map url=asset,dateadded=at --set slug=acme --status offline=DETECTED_AS_DEAD \\
    --ignore '*' --timezone UTC urlhaus.csv
  flatline import events --rebase now examples/events.csv.gz
  zcat old/*.ndjson.gz | flatline import events -
`,
  run: async ({ context, flags, words: [files] }) => {
    const { clock, signal } = context;
    const progress = createProgressLine(context);
    const startedAtMs = clock.monotonicMs();
    const { rebase = null } = flags;
    const importTo = (target: ImportTarget | null): Promise<ImportOutcome> =>
      importEvents({
        files: eventFilesOf(files, context),
        layout: layoutOf(flags, clock.nowMs(), rebase !== null),
        rebaseTo: rebase === null ? null : () => (rebase === "now" ? clock.nowMs() : rebase),
        target,
        onProgress: (phase, rows, ofRows) =>
          progress.show(`${phase}: ${formatCount(rows)}${ofRows === null ? "" : ` of ${formatCount(ofRows)}`} rows`),
        signal,
      });
    try {
      const outcome = await (flags.dryRun === true
        ? importTo(null)
        : askApi(flags, context, (api) => importTo(api.importTarget ?? apiTarget(api)), "new store"));
      return { outcome, seconds: (clock.monotonicMs() - startedAtMs) / secondMs };
    } finally {
      progress.clear();
    }
  },
  say: ({ outcome, seconds }, { flags: { dryRun = false } }) => {
    const { received, stored, duplicates, slugs, deaths, conflicts, someConflicts, ...rest } = outcome;
    const counts = dryRun ? { events: received, deaths } : { events: stored, deaths: null };
    return (
      `${dryRun ? "nothing was stored; the import would take" : "imported"} ` +
      eventsText({ ...rest, ...counts, organizations: slugs }) +
      (duplicates === 0 ? "" : `; ${countOf(duplicates, "duplicate")} left out`) +
      `${conflictsText(conflicts, someConflicts)}${otherStatusesText(outcome.otherStatuses)}` +
      ` (${seconds.toFixed(1)} s, ${formatCount(received / Math.max(seconds, 0.001))} rows/s)\n`
    );
  },
  data: ({ outcome: { someConflicts: _some, ...counts } }) => `${JSON.stringify(withInstants(counts))}\n`,
});

function conflictsText(rows: number, some: ImportOutcome["someConflicts"]): string {
  if (rows === 0) return "";
  const named = some.map(({ slug, id }) => `${excerpt(id)} of ${slug}`).join(", ");
  return `; ${countOf(rows, "conflict")} left out: the id is there with other content (${named})`;
}

function parseRebase(text: string): number | "now" {
  if (text === "now") return text;
  const reading = readInstant(text);
  if (typeof reading === "string") throw new InvalidArgumentError(`${reading}; now is a time, too.`);
  return reading;
}

// A body may have 16 MiB.
const lettersABody = 4 * 1_024 * 1_024;

/** Returns a target that sends events to the HTTP API. */
function apiTarget(api: ApiClient): ImportTarget {
  const send = async (path: string, events: readonly LivenessEvent[]) => {
    let total = noAnswer;
    for (let start = 0; start < events.length;) {
      let body = "";
      for (let event = events[start]; event !== undefined && body.length < lettersABody; event = events[++start])
        body += `${lineOf(event)}\n`;
      total = addAnswers(total, await api.sendLines(path, body, importAnswerSchema));
    }
    return total;
  };
  return {
    begin: async (plan) => {
      const begun = api.send("POST", "/api/v1/imports", plan, importBegunSchema, { isSlow: true });
      return (await begun.catch(recode({ conflict: "usage" }))).id;
    },
    add: (id, events) => send(`/api/v1/imports/${id}/rows`, events),
    end: (id) => api.send("POST", `/api/v1/imports/${id}/end`, undefined, z.undefined()),
  };
}

function lineOf({ atMs, ...fields }: LivenessEvent): string {
  return JSON.stringify({ at: atMs, ...fields });
}

const fixture = asking({
  description: "load organizations, brands, keys, assets, rules and reports; all files or nothing",
  words: [["<file...>", "fixtures, YAML or JSON"]],
  acts: true,
  without: "new store",
  json: "print the counts as JSON",
  help: `
Upserted by id or name, also while the daemon runs. A proposal that comes again as queued and not
resolved is escalated again. Keys, rules and reports may be of organizations that the configuration
names or that have events.

Example:
  flatline import fixture examples/fixture.yaml
`,
  ask: async ({ api, context, words: [names] }) => {
    const read = async (name: string) => ({ name, text: await readFixtureText(resolve(context.cwd, name), name) });
    const files = await Promise.all(names.map(read));
    const sent = api.send("POST", "/api/v1/fixtures", { files }, fixtureCountsSchema, { isSlow: true });
    // A wrong request means wrong files.
    return sent.catch(recode({ usage: "invalid_data", conflict: "usage" }));
  },
  say: (counts) => {
    const words = Object.entries(counts).map(([name, count]) => `${count} ${wordFor(name, count)}`);
    return `imported ${words.join(", ")}\n`;
  },
});

/** Returns "legitimacy rules" for `legitimacyRules`, or "legitimacy rule" for one. */
function wordFor(name: string, count: number): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return count === 1 ? words.replace(/s$/, "") : words;
}

export const importData = group("load data into the embedded store", { events, fixture });

import { resolve } from "node:path";

import { InvalidArgumentError, type Command } from "commander";

import { excerpt } from "../base/cut-text.ts";
import { FlatlineError } from "../base/errors.ts";
import { readInstant } from "../base/instant.ts";
import { formatCount } from "../base/numbers.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { withStore, type ActDeps, type OpenedStore } from "./with-store.ts";
import type { Config } from "../config/config.ts";
import { readFixtureText } from "../daemon/fixture-text.ts";
import { fixtureCountsSchema } from "../contract/v1/fixtures.ts";
import { actor } from "../contract/actor.ts";
import { importEvents, type ImportOptions, type ImportOutcome, type ImportProgress } from "../store/events/import.ts";
import { storeTarget } from "../store/events/imports.ts";
import type { EventLayout } from "../store/events/layout.ts";
import { countOf } from "../words/numbers.ts";
import { askingCommand, recode } from "./ask.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext, Output, RegisterCommand } from "./context.ts";
import { addEventFlags, layoutOf, type EventFlags } from "./event-flags.ts";

interface ImportFlags extends EventFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly rebase?: number;
  readonly dryRun?: boolean;
}

/** `flatline import events|fixture FILE…` */
export const registerImport: RegisterCommand = (program: Command, context: CliContext): void => {
  const parent = program.command("import").description("load data into the embedded store");
  addEvents(parent, context);
  addFixture(parent, context);
};

function addEvents(parent: Command, context: CliContext): void {
  const command = parent
    .command("events")
    .description(
      "load liveness events; all files are checked first, and what is cut off is completed by the same again",
    )
    .argument("<file...>", "CSV with a header, NDJSON or a JSON array, plain or gzipped; - is standard input")
    .option("-c, --config <file>", "configuration file");
  addEventFlags(command)
    .option(
      "--rebase <time>",
      "shift all events so that the newest is at this time (ISO 8601, epoch ms or now)",
      (text) => parseRebase(text, context.clock),
    )
    .option("--dry-run", "check and count all, store nothing")
    .option("--json", "print {files, received, stored, duplicates, conflicts, firstAt, lastAt, slugs, otherStatuses}")
    .addHelpText("after", eventsHelp)
    .action(async (files: string[], flags: ImportFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const progress = createProgressLine(context.stderr, context.clock);
      const startedAtMs = context.clock.monotonicMs();
      try {
        const outcome = await importEventFiles(config, context, {
          files,
          stdin: context.stdin,
          layout: layoutOf(flags, context.clock.nowMs(), flags.rebase !== undefined),
          rebaseToMs: flags.rebase ?? null,
          isDryRun: flags.dryRun ?? false,
          onProgress: progress.show,
          signal: context.signal,
        });
        progress.clear();
        const { firstAtMs, lastAtMs, someConflicts, ...counts } = outcome;
        const [firstAt, lastAt] = [firstAtMs, lastAtMs].map((atMs) =>
          atMs === null ? null : new Date(atMs).toISOString(),
        );
        if (flags.json === true) {
          context.stdout.write(`${JSON.stringify({ ...counts, firstAt, lastAt })}\n`);
          return;
        }
        const seconds = (context.clock.monotonicMs() - startedAtMs) / secondMs;
        const span = firstAtMs === null ? "" : `, ${firstAt ?? ""} to ${lastAt ?? ""}`;
        context.stdout.write(
          `${flags.dryRun === true ? "nothing was stored; the import would take" : "imported"} ${countOf(flags.dryRun === true ? outcome.received : outcome.stored, "event")} of ${countOf(outcome.slugs, "organization")}` +
            `${outcome.duplicates === 0 ? "" : `, ${countOf(outcome.duplicates, "duplicate")} left out`}${span}` +
            `${conflictsText(outcome.conflicts, someConflicts)}${otherStatusesText(outcome.otherStatuses)}` +
            ` (${seconds.toFixed(1)} s, ${formatCount(outcome.received / Math.max(seconds, 0.001))} rows/s)\n`,
        );
      } finally {
        progress.clear();
      }
    });
}

function conflictsText(rows: number, some: ImportOutcome["someConflicts"]): string {
  if (rows === 0) return "";
  const named = some.map(({ slug, id }) => `${excerpt(id)} of ${slug}`).join(", ");
  return `; ${countOf(rows, "conflict")} left out: the id is there with other content (${named})`;
}

/** Events that count for nothing, which a file of another system often has. */
function otherStatusesText(others: ImportOutcome["otherStatuses"]): string {
  const names = Object.keys(others);
  if (names.length === 0) return "";
  const events = Object.values(others).reduce((sum, count) => sum + count, 0);
  const some = names.slice(0, 3).map((name) => excerpt(name));
  const more = names.length > some.length ? " and others" : "";
  const advice = `${names[0] ?? ""}=DETECTED_AS_DEAD`;
  return `; ${formatCount(events)} of them with the status ${some.join(", ")}${more}, which is not counted as a death (--status ${advice} would count it)`;
}

const eventsHelp = `
Columns or keys: at and slug, and when wanted assetType, asset, status [DETECTED_AS_DEAD], id, count [1]. The same id of
the same slug counts once, and so does a row without one that says the same. at is from 2000 to 10 min ahead of now (--any-time: of the years 1970 to 9999), count a whole number
up to 1000000000. A bad line: its number and reason, nothing imported, exit code 65.
Files of others: --map COLUMN=FIELD, also COLUMN=attr.NAME, and COLUMN=at.seconds for seconds since 1970.
A time without an offset needs --timezone; of a time that comes twice when the clocks go back, it is the first one.

Examples:
  flatline import events events.csv.gz
  flatline import events --map timestamp=at,customer=slug --timezone Europe/Berlin export.csv
  flatline import events --map url=asset,dateadded=at --set slug=acme --status offline=DETECTED_AS_DEAD \\
    --ignore '*' --timezone UTC urlhaus.csv
  flatline import events --rebase now examples/events.csv.gz
  zcat old/*.ndjson.gz | flatline import events -
`;

function parseRebase(text: string, clock: Clock): number {
  if (text === "now") return clock.nowMs();
  const reading = readInstant(text);
  if (reading.kind === "problem") throw new InvalidArgumentError(`${reading.problem}; now is a time, too.`);
  return reading.atMs;
}

/** One line on a terminal that is written over and over; nothing elsewhere. */
function createProgressLine(output: Output, clock: Clock) {
  let isShown = false;
  let writingSinceMs: number | null = null;
  return {
    show: ({ phase, rows, totalRows }: ImportProgress): void => {
      if (!output.isTerminal) return;
      if (phase === "writing") writingSinceMs ??= clock.monotonicMs();
      const seconds = (clock.monotonicMs() - (writingSinceMs ?? 0)) / secondMs;
      const rate = phase === "writing" && seconds > 0.5 ? `, ${formatCount(rows / seconds)} rows/s` : "";
      const share = totalRows === null ? "" : ` of ${formatCount(totalRows)}`;
      const text =
        phase === "checking"
          ? `checking: ${formatCount(rows)} rows`
          : `writing: ${formatCount(rows)}${share} rows${rate}`;
      isShown = true;
      output.write(`\r${text.slice(0, output.columns - 1).padEnd(Math.min(60, output.columns - 1))}`);
    },
    clear: (): void => {
      if (isShown) output.write(`\r${" ".repeat(Math.min(60, output.columns - 1))}\r`);
      isShown = false;
    },
  };
}

interface ImportFilesOptions extends Pick<ImportOptions, "rebaseToMs" | "onProgress" | "signal"> {
  /** `-` is standard input. */
  readonly files: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
  readonly layout: EventLayout;
  readonly isDryRun: boolean;
}

/**
 * Imports files of liveness events into the embedded source's store (CONTRACT 3 and 10).
 * @throws usage with any other source, and the errors of importEvents
 */
async function importEventFiles(
  config: Config,
  deps: ActDeps,
  { files, stdin, isDryRun, ...options }: ImportFilesOptions,
): Promise<ImportOutcome> {
  const { type, isLocal, holdsEvents } = config.source;
  if (!holdsEvents) {
    const reason = isLocal
      ? `a ${type} source reads the events from their table`
      : "a remote service counts its own events";
    throw new FlatlineError("usage", `import events needs source.type: embedded: ${reason}`);
  }
  if (files.filter((file) => file === "-").length > 1) {
    throw new FlatlineError("usage", "standard input (-) can be read only once");
  }
  const eventFiles = files.map((file) =>
    file === "-" ? { name: "standard input", stream: stdin } : { name: file, path: resolve(deps.cwd, file) },
  );
  const { clock } = deps;
  if (isDryRun) return importEvents({ ...options, files: eventFiles, clock, target: null });
  const importAll = async ({ store }: OpenedStore): Promise<ImportOutcome> => {
    const outcome = await importEvents({ ...options, files: eventFiles, clock, target: storeTarget(store, clock) });
    const { files: _files, firstAtMs: _first, lastAtMs: _last, someConflicts: _some, ...detail } = outcome;
    const by = { atMs: deps.clock.nowMs(), actor: actor(deps.userName(), "cli") };
    const act = { action: "import.events", slug: null, subject: files.join(", "), detail } as const;
    await store.audit.append({ ...by, ...act });
    return outcome;
  };
  return withStore(config, deps, importAll, { mustExist: false, writes: true });
}

function addFixture(parent: Command, context: CliContext): void {
  const command = parent
    .command("fixture")
    .description("load organizations, brands, keys, assets, rules and reports; all files or nothing")
    .argument("<file...>", "fixtures, YAML or JSON");
  askingCommand(command, context, {
    json: "print the counts as JSON",
    help: fixtureHelp,
    acts: true,
    without: "new store",
    ask: async (api, _flags, names: readonly string[]) => {
      const read = async (name: string) => ({ name, text: await readFixtureText(resolve(context.cwd, name), name) });
      const files = await Promise.all(names.map(read));
      const sent = api.send("POST", "/api/v1/fixtures", { files }, fixtureCountsSchema, { isSlow: true });
      // What is wrong with what was sent is wrong with the files.
      return sent.catch(recode({ usage: "invalid_data", conflict: "usage" }));
    },
    say: (counts) => {
      const words = Object.entries(counts).map(([name, count]) => `${count} ${wordFor(name, count)}`);
      return `imported ${words.join(", ")}\n`;
    },
  });
}

/** What is counted: `legitimacyRules` as "legitimacy rules", or "legitimacy rule" where it is one. */
function wordFor(name: string, count: number): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return count === 1 ? words.replace(/s$/, "") : words;
}

const fixtureHelp = `
Upserted by id or name, also while the daemon runs. A proposal that comes again as queued and not resolved is escalated
again. Keys, rules and reports may be of organizations that the configuration names or that have events.

Example:
  flatline import fixture examples/fixture.yaml
`;

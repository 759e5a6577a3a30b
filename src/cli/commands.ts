import type { RegisterCommand } from "./context.ts";

type LoadCommands = () => Promise<readonly RegisterCommand[]>;

/**
 * Every command, in the order of `--help`. Each is loaded when it is asked for: a `check` need not read the server that
 * `run` needs.
 */
const loaders: Readonly<Record<string, LoadCommands>> = {
  run: async () => [(await import("./run.ts")).registerRun],
  check: async () => [(await import("./check.ts")).registerCheck],
  status: async () => [(await import("./status.ts")).registerStatus],
  config: async () => [(await import("./config.ts")).registerConfig],
  alerts: async () => [(await import("./alerts/alerts.ts")).registerAlerts],
  gate: async () => [(await import("./gate.ts")).registerGate],
  explain: async () => [(await import("./replay/explain.ts")).registerExplain],
  discover: async () => [(await import("./discover.ts")).registerDiscover],
  marker: async () => [(await import("./marker.ts")).registerMarker],
  silence: async () => [(await import("./silence.ts")).registerSilence],
  notify: async () => [(await import("./notify.ts")).registerNotify],
  drill: async () => [(await import("./drill.ts")).registerDrill],
  outbox: async () => [(await import("./outbox.ts")).registerOutbox],
  audit: async () => [(await import("./audit.ts")).registerAudit],
  import: async () => [
    (await import("./import/import-events.ts")).registerImportEvents,
    (await import("./import/import-fixture.ts")).registerImportFixture,
  ],
  backtest: async () => [(await import("./replay/backtest.ts")).registerBacktest],
  tune: async () => [(await import("./replay/tune.ts")).registerTune],
  keys: async () => [(await import("./keys.ts")).registerKeys],
  reports: async () => [(await import("./platform/reports.ts")).registerReports],
  proposals: async () => [(await import("./platform/proposals.ts")).registerProposals],
  forget: async () => [(await import("./forget.ts")).registerForget],
  backup: async () => [(await import("./backup.ts")).registerBackup],
  restore: async () => [(await import("./backup.ts")).registerRestore],
  healthcheck: async () => [(await import("./healthcheck.ts")).registerHealthcheck],
  completion: async () => [(await import("./completion/completion.ts")).registerCompletion],
};

/** Returns what has to be registered for this command line: its command, or all where help, a suggestion or `completion` needs them. */
export async function loadCommands(argv: readonly string[]): Promise<readonly RegisterCommand[]> {
  const [name = ""] = argv;
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (load !== undefined && name !== "completion") return load();
  // The version needs no command.
  if (name === "-V" || name === "--version") return [];
  return (await Promise.all(Object.values(loaders).map((loadAll) => loadAll()))).flat();
}

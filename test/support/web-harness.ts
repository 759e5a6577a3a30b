import { afterEach } from "vitest";

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { FlatlineError } from "../../src/base/errors.ts";
import type { Config } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Logger } from "../../src/base/logger.ts";
import { Secret } from "../../src/base/secret.ts";
import { createSystemClock, type Clock } from "../../src/base/time.ts";
import { allRights } from "../../src/contract/rights.ts";
import { checkNames, type CheckReport } from "../../src/contract/report.ts";
import type { OutboxEntry } from "../../src/store/alerts/outbox.ts";
import { listedSilence, type ListedSilence } from "../../src/alerting/silence-book.ts";
import { ruleOf } from "../../src/alerting/decide/silences.ts";
import type { StoredSession } from "../../src/store/acts/sessions.ts";
import type { StoredSilence } from "../../src/store/alerts/silences.ts";
import type { AccessSettings, TokenAccess } from "../../src/web/access/admission.ts";
import { createFleetSnapshots } from "../../src/web/read/fleet.ts";
import type { AlertView } from "../../src/alerting/view.ts";
import type { Store } from "../../src/store/store.ts";
import type { CheckState } from "../../src/web/read/running.ts";
import type { DeadAssets } from "../../src/web/read/dead-assets.ts";
import type { EventsPort } from "../../src/web/api/event-routes.ts";
import { createWeb, type WebOptions } from "../../src/web/web.ts";
import { resultReport } from "./check-reports.ts";
import { quietSettings } from "./quiet-settings.ts";
import { engineNamed } from "./store/engines.ts";

export const token = "correct horse battery staple";
export const bearer = { authorization: `Bearer ${token}` } as const;
export const basic = { authorization: `Basic ${Buffer.from(`prometheus:${token}`).toString("base64")}` } as const;

/** As `server.token` gives it. */
export function oneToken(value: string): TokenAccess {
  return { name: "token", secret: new Secret(value), rights: allRights, slugs: null };
}

/** Nobody has a name. */
export const nobody: AccessSettings = {
  tokens: [],
  localToken: new Secret("of a command on this machine"),
  trustedProxy: null,
  externalUrl: null,
  publicRead: true,
  sessionTtlMs: 30 * 86_400_000,
};

/** What the far sides of the web room hold and saw; a test changes it, the doubles read it at each request. */
export interface WebWorld {
  access: AccessSettings;
  exposition: string;
  checks: CheckState[];
  /** What the history has of any check. */
  reports: CheckReport[];
  /** Awaited by each read of the fleet: what it throws is what the read fails with. */
  beforeRead: () => Promise<void>;
  /** What each read of the store by a page fails with; null: it does not. */
  storeError: Error | null;
  probed: { check: string; slug: string; timeoutMs: number }[];
  probe: (check: string, slug: string) => Promise<CheckReport | null>;
  run: (check: string, slug: string) => Promise<CheckReport>;
  /** Live, or ended and kept. */
  alerts: readonly AlertView[];
  /** Of the configuration. */
  windows: ListedSilence[];
  /** By their SHA-256. */
  sessions: Map<string, StoredSession>;
  nowMs: number;
  silences: StoredSilence[];
  healthReasons: string[];
  readyReasons: string[];
  reload: () => Promise<void>;
  ingest: EventsPort["ingest"] | null;
  ingested: string[];
  outbox: OutboxEntry[];
  /** How often all of it was read. */
  outboxReads: number;
  /** Of what pages show. */
  version: number;
  /** By alert. */
  assets: Map<string, DeadAssets>;
  logged: { fields: object; message: string }[];
}

export interface RunningWeb {
  readonly url: string;
  readonly port: number;
  readonly world: WebWorld;
  close(graceMs?: number): Promise<void>;
}

export const harnessNowMs = 1_767_225_600_000;

/** A check of an organization as the store has it: run a minute ago. */
export function checkOf(report: CheckReport | null, changes: Partial<CheckState> = {}): CheckState {
  return {
    check: report?.check ?? "dead-asset-spike",
    slug: report?.slug ?? "acme",
    nextDueAtMs: harnessNowMs + 240_000,
    isRunning: false,
    last: report && {
      kind: report.kind === "error" ? report.error.reason : report.severity,
      severity: report.severity,
      severitySinceMs: report.finishedAtMs,
      lastRunAtMs: report.finishedAtMs,
      lastSuccessAtMs: report.kind === "result" ? report.finishedAtMs : null,
      lastCounts: null,
      lastReport: report,
      lastResultReport: null,
    },
    intervalMs: () => 300_000,
    staleAfterMs: () => 900_000,
    ...changes,
  };
}

let opened: Promise<Store> | null = null;

/** One for all servers of a test file: nothing writes to it. */
function emptyStore(): Promise<Store> {
  opened ??= engineNamed("SQLite")
    .openTemporary(createSystemClock())
    .then(({ store }) => store);
  return opened;
}

/** No organization, and one receiver. */
async function smallConfig(): Promise<Config> {
  const cwd = await mkdtemp(join(tmpdir(), "flatline-web-"));
  const text = "{ organizations: [], source: { type: embedded }, receivers: [{ name: ops, type: log }] }";
  await writeFile(join(cwd, "flatline.yaml"), text);
  const config = await loadConfig({ path: "flatline.yaml", cwd, env: {} });
  await rm(cwd, { recursive: true });
  return config;
}

function runningOver(
  world: WebWorld,
  { clock, logger, store, config }: { clock: Clock; logger: Logger; store: Store; config: Config },
): WebOptions["running"] {
  const sessions = sessionsOver(world, store);
  const running: WebOptions["running"] = {
    get store() {
      if (world.storeError !== null) throw world.storeError;
      const list = async (): Promise<OutboxEntry[]> => {
        world.outboxReads++;
        return world.outbox;
      };
      const find = async (id: string): Promise<AlertView | null> =>
        world.alerts.find((alert) => alert.id === id) ?? null;
      const reports = async (): Promise<CheckReport[]> => world.reports;
      return {
        ...store,
        outbox: { ...store.outbox, list },
        alerts: { ...store.alerts, find },
        runs: { ...store.runs, reports },
        ...sessions,
      };
    },
    clock,
    fleet: async () => {
      await world.beforeRead();
      return { ...(await fleet()), alerts: world.alerts.filter(({ end }) => end === null) };
    },
    checks: {
      all: () => world.checks,
      of: (check, slug) => world.checks.find((state) => state.check === check && state.slug === slug) ?? null,
    },
    logger,
    storeProblem: () => null,
    config: () => config,
    checkNames: () => checkNames,
    receivers: () => [],
    discovery: () => [],
    runNow: (check, slug) => world.run(check, slug),
    version: () => String(world.version),
    reloads: () => ({ appliedAtMs: harnessNowMs, lastReload: null }),
    source: () => "embedded",
    holdsEvents: () => true,
    thresholdsOf: () => null,
    countsAssets: () => false,
    settings: () => quietSettings,
    newId: () => "new-id",
    onAct: () => undefined,
    canLook: () => false,
    look: () => Promise.reject(new Error("nobody looks")),
    onJudged: () => undefined,
  };
  const fleet = createFleetSnapshots(running);
  return running;
}

/** Tested over a real store, too (e2e/api/sign-in). */
function sessionsOver(world: WebWorld, store: Store): Pick<Store, "sessions" | "meta" | "transaction"> {
  const sessions: Store["sessions"] = {
    ...store.sessions,
    bySha256: async (sha256) => world.sessions.get(sha256) ?? null,
    touch: async (sha256, lastUsedAtMs) => {
      const found = world.sessions.get(sha256);
      if (found !== undefined) world.sessions.set(sha256, { ...found, lastUsedAtMs });
    },
    add: async (session) => void world.sessions.set(session.sha256, session),
    remove: async (sha256) => world.sessions.delete(sha256),
    claims: async () => [...world.sessions.values()],
    removeOf: async ({ tokenName, tokenProof }) => {
      for (const [sha256, one] of world.sessions)
        if (one.tokenName === tokenName && one.tokenProof === tokenProof) world.sessions.delete(sha256);
    },
  };
  const named = new Map<string, string>();
  const getOrSet = async (name: string, value: string): Promise<string> => {
    const known = named.get(name) ?? value;
    named.set(name, known);
    return known;
  };
  return {
    sessions,
    meta: { ...store.meta, getOrSet },
    transaction: (work) => store.transaction((parts) => work({ ...parts, sessions })),
  };
}

const noImports = {
  begin: () => Promise.resolve(1),
  addBody: () => Promise.resolve({ received: 0, stored: 0, duplicates: 0, conflicts: 0, someConflicts: [] }),
  end: () => Promise.resolve(),
  imports: () => [],
  refused: () => null,
};

/** The real server of web/ over doubles, listening on 127.0.0.1 and a free port unless told others. */
export async function startWeb(
  { logger: given, ...options }: Partial<WebOptions> & { readonly logger?: Logger } = {},
  listenPort = 0,
  listenHost = "127.0.0.1",
): Promise<RunningWeb> {
  const world: WebWorld = {
    access: { ...nobody, tokens: [oneToken(token)] },
    exposition: "# HELP a b\n# TYPE a gauge\na 1\n",
    checks: [checkOf(resultReport({ finishedAtMs: harnessNowMs - 60_000 }))],
    reports: [],
    beforeRead: async () => undefined,
    probed: [],
    probe: async (check, slug) => (check === "dead-asset-spike" && slug === "acme" ? resultReport() : null),
    run: async (check, slug) => {
      if (check === "dead-asset-spike" && slug === "acme") return resultReport();
      throw new FlatlineError("not_found", `no check ${check} is configured for "${slug}"`);
    },
    alerts: [],
    windows: [],
    sessions: new Map(),
    nowMs: harnessNowMs,
    silences: [],
    healthReasons: [],
    readyReasons: [],
    reload: async () => undefined,
    ingest: null,
    ingested: [],
    outbox: [],
    outboxReads: 0,
    storeError: null,
    version: 0,
    assets: new Map(),
    logged: [],
  };
  world.ingest = async (body) => {
    world.ingested.push(body.toString());
    return { received: 3, stored: 2, duplicates: 1, conflicts: 0, otherStatuses: {} };
  };
  const system = createSystemClock();
  const monotonicMs = (): number => system.monotonicMs() + world.nowMs - harnessNowMs;
  const clock: Clock = { ...system, nowMs: () => world.nowMs, monotonicMs };
  const log = (fields: object, message: string): void => void world.logged.push({ fields, message });
  const logger: Logger = given ?? { debug: log, info: log, warn: log, error: log, child: () => logger };
  const web = createWeb({
    version: "1.2.3",
    access: () => world.access,
    renderMetrics: async () => [Buffer.from(world.exposition)],
    probe: (check, slug, timeoutMs) => {
      world.probed.push({ check, slug, timeoutMs });
      return world.probe(check, slug);
    },
    // Pages over a real store are tested through the program (e2e/page).
    running: runningOver(world, { clock, logger, store: await emptyStore(), config: await smallConfig() }),
    // Tested over a real store (e2e/pagerduty-in, e2e/links).
    hooks: { isSigning: (receiver) => receiver === "pager", pagerduty: async () => "unsigned" },
    links: {
      look: async () => "altered",
      follow: async () => "altered",
    },
    health: {
      unhealthy: () => world.healthReasons,
      unready: () => world.readyReasons,
    },
    reload: () => world.reload(),
    silences: {
      list: async () => [...world.windows, ...world.silences.map(listed)],
      add: async (silence, { name: createdBy, note }) => {
        const id = `s${world.silences.length + 1}`;
        const stored = { ...silence, id, createdBy, note, createdAtMs: harnessNowMs };
        world.silences.push(stored);
        return listed(stored);
      },
      change: async (id, change) => {
        const silence = world.silences.find((one) => one.id === id);
        if (silence === undefined) throw new FlatlineError("not_found", "no silence has this id");
        if (silence.endsAtMs <= harnessNowMs) throw new FlatlineError("conflict", "the silence has ended");
        return listed({ ...silence, ...change });
      },
      expire: async (id) => {
        const index = world.silences.findIndex((silence) => silence.id === id);
        return index >= 0 && world.silences.splice(index, 1).length === 1;
      },
    },
    events: () => (world.ingest === null ? null : { ...noImports, ingest: world.ingest }),
    alertAssets: {
      of: async (alertId) => world.assets.get(alertId) ?? null,
      ofIncident: async () => null,
      newest: async () => null,
      costOf: async () => null,
    },
    unwatched: { slugs: async () => [], list: async () => [] },
    showConfiguration: () => ({ server: { token: new Secret(token) } }),
    ...options,
  });
  const { url, port } = await web.listen(`${listenHost}:${listenPort}`);
  return { url, port, world, close: (graceMs) => web.close(graceMs) };
}

const listed = (silence: StoredSilence): ListedSilence => listedSilence(ruleOf(silence), silence, harnessNowMs);

/** Sends bytes as they are and answers everything that comes back until the far side closes. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.write(text);
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

/** Returns a function that starts servers, which are closed after each test of the file. */
export function useWebs(): (options?: Partial<WebOptions>) => Promise<RunningWeb> {
  let running: RunningWeb[] = [];
  afterEach(async () => {
    for (const web of running) await web.close(0);
    running = [];
  });
  return async (options = {}) => {
    const web = await startWeb(options);
    running.push(web);
    return web;
  };
}

/** Asks `METHOD /path`. */
export function ask(web: RunningWeb, route: string, headers: Record<string, string> = {}): Promise<Response> {
  const [method = "GET", path = "/"] = route.split(" ");
  return fetch(web.url + path, { method, headers });
}

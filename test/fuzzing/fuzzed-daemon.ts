import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import type { Logger } from "../../src/base/logger.ts";
import { createSystemClock } from "../../src/base/time.ts";
import { importFixtures } from "../../src/service/fixture/fixture.ts";
import { makeDaemonFolder } from "../support/program/daemon.ts";
import { eventually } from "../support/program/program.ts";
import { exchange, type RawAnswer } from "./exchange.ts";
import { complaintsOfText } from "./promises.ts";
import { createTestApp } from "../support/program/test-app.ts";

const fixture = fileURLToPath(new URL("../../examples/fixture.yaml", import.meta.url));

/** What must not be in any answer. */
export const secrets = {
  token: "a-token-of-the-fuzzer",
  reader: "a-token-that-only-reads",
  webhook: "the-secret-of-the-webhook",
  link: "the-secret-of-the-links",
  routing: "the-routing-key-of-the-pager",
};
const repeats = 5;
export const slugs = ["acme", "globex", "initech", "ads-hosts", "risk-hosts"];

const config = `
source: { type: embedded }
defaults: { schedule: "@yearly", gate: { releaseOn: [judged, acknowledged] } }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false, externalUrl: "https://flatline.example.com" }
receivers:
  - { name: pager, type: pagerduty, routingKey: ${secrets.routing}, webhookSecret: ${secrets.webhook}, url: "http://127.0.0.1:9/v2" }
  - { name: console, type: log }
silences:
  - { slug: initech, schedule: "0 2 * * 6", duration: 2h, comment: each week }
server:
  listen: "127.0.0.1:0"
  token: ${secrets.token}
  linkSecret: ${secrets.link}
  tokens: [{ name: reader, token: ${secrets.reader}, may: [read] }]
storage: { path: flatline.db }
`;

/** The real daemon in this process, on a socket and a SQLite file, with alerts that fire and reports to review. */
export interface FuzzedDaemon extends AsyncDisposable {
  readonly port: number;
  /** Of the alert that fires, by organization. */
  readonly alertIds: ReadonlyMap<string, string>;
  ask(request: Buffer, isWhole?: boolean): Promise<RawAnswer>;
  /** What a promise says of any answer, and of the daemon after it. */
  complaintsOf(answer: RawAnswer, request: string): Promise<string[]>;
  /** The same for the same state, leaving out what changes by itself. */
  stateHash(): string;
  /** Whether a request has changed that, and does each time: what an earlier one left under way changes it once. */
  changes(before: string, request: Buffer): Promise<boolean>;
}

export async function startFuzzedDaemon(): Promise<FuzzedDaemon> {
  const folder = await makeDaemonFolder();
  const errors: string[] = [];
  let ids = 0;
  await folder.configure(config);
  for (const slug of ["acme", "globex", "initech"]) await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
  const clock = createSystemClock();
  const files = [{ name: "fixture.yaml", text: readFileSync(fixture, "utf8") }];
  await folder.withStore((store) => importFixtures({ store, clock, files, configured: slugs }));
  const app = await createTestApp(folder.path, {
    clock,
    logger: errorsTo((line) => errors.push(line)),
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`,
  });
  await app.start();
  const port = app.address()?.port ?? 0;
  const database = new DatabaseSync(join(folder.path, "flatline.db"), { readOnly: true });
  const ask = (request: Buffer, isWhole = true): Promise<RawAnswer> => exchange(port, request, isWhole);
  const alertIds = await eventually(async () => {
    const { body } = await ask(requestBytes({ path: "/api/v1/alerts" }));
    const { alerts } = JSON.parse(body) as { alerts: { id: string; slug: string; state: string }[] };
    const firing = alerts.filter(({ state }) => state === "firing");
    return firing.length < 3 ? null : new Map(firing.map(({ slug, id }) => [slug, id]));
  });
  const tables = [
    "silence",
    "marker",
    "judgement",
    "comment",
    "audit",
    "gate",
    "event",
    "organization",
    "report",
    "key",
  ];
  const names = database
    .prepare("select name from sqlite_master where type = 'table' order by name")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => tables.some((part) => name.includes(part)));

  function stateHash(): string {
    const hash = createHash("sha256");
    for (const name of names)
      for (const row of database.prepare(`select * from "${name}"`).iterate()) hash.update(JSON.stringify(row));
    return hash.digest("hex");
  }

  /** Secrets that were posted as a text of its own, a marker's or a comment's, which is shown as such from then on. */
  const posted = new Set<string>();
  return {
    port,
    alertIds,
    ask,
    complaintsOf: async (answer, request) => {
      const line = request.slice(0, request.indexOf("\r\n"));
      const body = request.slice(request.indexOf("\r\n\r\n"));
      for (const secret of Object.values(secrets))
        if (line.includes(secret) || body.includes(secret)) posted.add(secret);
      const known = [request, ...posted].join("\n");
      const complaints = [...complaintsOfAnswer(answer, known), ...errors.splice(0)];
      const { status, body: words } = await ask(requestBytes({ path: "/-/healthy" }));
      if (status !== 200) complaints.push(`/-/healthy is ${status} after it: ${words}`);
      return complaints;
    },
    stateHash,
    changes: async (before, request) => {
      let known = before;
      for (let time = 0; time < repeats; time++) {
        const found = stateHash();
        if (found === known) return false;
        known = found;
        await ask(request, false);
      }
      return stateHash() !== known;
    },
    [Symbol.asyncDispose]: async () => {
      database.close();
      await app.stop();
      await folder.close();
    },
  };
}

/** The bytes of a request; those of another length than it says, or with other lines in it, are made by who asks for them. */
export function requestBytes({
  method = "GET",
  path,
  headers = {},
  body = Buffer.alloc(0),
}: {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}): Buffer {
  const all = { host: "127.0.0.1", connection: "close", ...headers };
  const length = body.length > 0 || method !== "GET" ? { "content-length": String(body.length) } : {};
  const lines = Object.entries({ ...all, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), body]);
}

function complaintsOfAnswer({ status, headers, body }: RawAnswer, request: string): string[] {
  const complaints = complaintsOfText(body);
  if (status === 0 && body !== "") complaints.push(`answers what is not HTTP: ${body.slice(0, 200)}`);
  if (status >= 500) complaints.push(`${status}: ${body.slice(0, 500)}`);
  for (const [name, secret] of Object.entries(secrets))
    if (body.includes(secret) && !request.includes(secret)) complaints.push(`shows the secret ${name}`);
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  if (status >= 400 && !isPage && !isErrorBody(body)) complaints.push(`${status} without an error's body: ${body}`);
  return complaints;
}

function isErrorBody(body: string): boolean {
  // The answer to HEAD.
  if (body === "") return true;
  try {
    const { message, code, issues = [] } = JSON.parse(body) as Record<string, unknown>;
    const areTexts = Array.isArray(issues) && issues.every((issue) => typeof issue?.message === "string");
    return typeof message === "string" && message !== "" && /^[A-Z_]+$/.test(String(code)) && areTexts;
  } catch {
    return false;
  }
}

function errorsTo(write: (line: string) => void): Logger {
  const error = (fields: object, message: string): void => {
    const { err } = fields as { readonly err?: unknown };
    // What a receiver of type log writes is one of these, too.
    if (err !== undefined) write(`logs an error: ${message}: ${err instanceof Error ? err.stack : "no error"}`);
  };
  const ignore = (): void => undefined;
  const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error, child: () => logger };
  return logger;
}

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { secondMs } from "../../../src/base/time.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { startTcpProxy, type TcpProxy } from "../../support/far-side/tcp-proxy.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres/server.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, startProgram, type Program } from "../../support/program/program.ts";
import { readSentAlerts } from "../../support/sent-alerts.ts";
import { isLong } from "../../support/tier.ts";

const slugs = Array.from({ length: 12 }, (_, index) => `org-${index}`);
// CONTRACT 20, and what a busy machine needs beside it.
const takeoverMs = 25 * secondMs;

/** A process with a way of its own to the database. */
interface Process {
  readonly program: Program;
  readonly proxy: TcpProxy;
}

let postgres: PostgresServer;
let database: string;
let upstream: ScriptedUpstream;
let sink: HttpSink;
let folder: ProgramFolder;
let processes: Process[];
/** Organizations whose checker is broken. */
let broken: ReadonlySet<string>;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  broken = new Set();
  processes = [];
  database = await postgres.createDatabase(true);
  upstream = await startScriptedUpstream();
  upstream.otherwise((request) => {
    const slug = slugOf(request);
    const severity = broken.has(slug) ? "fail" : "ok";
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity, ok: severity === "ok" }) };
  });
  // What is sent is often under way when its sender is killed.
  sink = await startHttpSink((response) => void setTimeout(() => response.writeHead(204).end(), 50));
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "* * * * * *", alert: { repeatInterval: 0s } }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, groupInterval: 0s, incident: { within: 0s }, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}", timeout: 2s }]
server: { listen: "127.0.0.1:0" }
storage: { url: "\${STORE_URL}", poolSize: 4 }
`);
});
afterEach(async () => {
  for (const { program, proxy } of processes) {
    await program.kill();
    await proxy.close();
  }
  await folder[Symbol.asyncDispose]();
  await sink.close();
  await upstream.close();
  await postgres.dropDatabase(database);
});

async function start(): Promise<Process> {
  const url = new URL(database);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  const program = startProgram(["run"], { cwd: folder.path, env: { STORE_URL: url.href } });
  processes.push({ program, proxy });
  return { program, proxy };
}

function slugOf({ body }: { readonly body: string }): string {
  return (JSON.parse(body) as { readonly slug: string }).slug;
}

/** Waits until every organization was asked for since. */
async function allChecked(): Promise<void> {
  const since = upstream.requests.length;
  const isChecked = (slug: string): boolean => upstream.requests.slice(since).some((one) => slugOf(one) === slug);
  await eventually(async () => slugs.every(isChecked), takeoverMs);
}

const isEach = (events: readonly string[]): boolean => {
  const told = readSentAlerts(sink.requests, "slug");
  return slugs.every((slug) => told.get(slug)?.join() === events.join());
};

async function writes({ program }: Process): Promise<void> {
  await program.untilLogged("flatline started", {}, takeoverMs);
}

async function standsBy({ program }: Process): Promise<string> {
  return String((await program.untilLogged("flatline stands by"))["url"]);
}

/** It ends as one that another process has taken over from. */
async function endsAsTaken({ program }: Process): Promise<void> {
  const { exitCode, stderr } = await program.ended(takeoverMs);
  expect(exitCode).toBe(75);
  expect(stderr).toMatch(/another process writes to the store 127\.0\.0\.1:\d+\/\w+ by now/);
  expect(stderr).not.toMatch(/p(%40|@)ss|nhandled|\n\s+at /);
}

const ways = [
  {
    way: "is killed",
    end: async ({ program }: Process) => void (await program.kill()),
    comeBack: async () => undefined,
  },
  {
    way: "is suspended",
    end: async ({ program }: Process) => program.signal("SIGSTOP"),
    comeBack: async (one: Process) => {
      one.program.signal("SIGCONT");
      await endsAsTaken(one);
    },
  },
  {
    way: "loses the database",
    end: async ({ proxy }: Process) => proxy.refuse(),
    comeBack: async (one: Process) => {
      one.proxy.mend();
      await endsAsTaken(one);
    },
  },
  {
    way: "stops",
    end: async ({ program }: Process) => {
      program.signal("SIGTERM");
      expect((await program.ended()).exitCode).toBe(0);
    },
    comeBack: async () => undefined,
  },
];

describe("one process writes to a PostgreSQL, and the next one goes on", () => {
  it.each(ways)(
    "when it $way: nothing is lost or told under a second id",
    { timeout: 180_000 },
    async ({ way, end, comeBack }) => {
      for (let round = 0; round < (isLong ? 5 : 1); round++) {
        const writer = processes.at(-1) ?? (await start());
        await writes(writer);
        await allChecked();
        const next = await start();
        const url = await standsBy(next);
        broken = new Set(round % 2 === 0 ? slugs : []);
        const before = sink.requests.length;
        await eventually(async () => sink.requests.length > before);
        const told: string[] = Array.from({ length: round + 1 }, (_, index) =>
          index % 2 === 0 ? "firing" : "resolved",
        );

        const endedMs = performance.now();
        await end(writer);
        // After a stop the next one may listen at its own port already.
        const healthy = await fetch(`${url}/-/healthy`).then(
          ({ status }) => status,
          () => way === "stops",
        );
        expect([200, true]).toContain(healthy);
        await writes(next);
        expect(performance.now() - endedMs).toBeLessThan(15 * secondMs);
        await eventually(async () => isEach(told));
        await comeBack(writer);
        await allChecked();
        expect(isEach(told)).toBe(true);
      }
    },
  );

  it("when the database is restarted, it is one of them", { timeout: 120_000 }, async () => {
    const [one, two] = [await start(), await start()];
    const [writer, standby] = await eventually(() => {
      const isWriter = ({ program }: Process): boolean => program.log().some(({ msg }) => msg === "flatline started");
      return isWriter(one) ? [one, two] : isWriter(two) ? [two, one] : null;
    });
    await standsBy(standby);
    broken = new Set(slugs);
    await eventually(async () => sink.requests.length > 0);

    await postgres.restart();

    await eventually(async () => isEach(["firing"]), takeoverMs);
    await allChecked();
    broken = new Set();
    await eventually(async () => isEach(["firing", "resolved"]), takeoverMs);
    // Whoever did not take it has ended, or waits.
    const ends = await Promise.all([writer, standby].map(({ program }) => program.ended(0).catch(() => null)));
    expect(ends.map((end) => end?.exitCode ?? 75)).toEqual([75, 75]);
    expect(ends).toContain(null);
  });

  it("beside one that stands by, which says so and answers nothing else", async () => {
    await writes(await start());
    const url = await standsBy(await start());
    const ask = async (path: string): Promise<[number, string | null]> => {
      const { status, headers } = await fetch(`${url}${path}`);
      return [status, headers.get("retry-after")];
    };

    expect(await ask("/-/healthy")).toEqual([200, null]);
    for (const path of ["/-/ready", "/", "/api/v1/checks", "/probe?slug=org-0"])
      expect(await ask(path)).toEqual([503, "5"]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
      expect.stringMatching(/^flatline_build_info\{version=".*",node=".*"\} 1$/),
      "flatline_standby 1",
    ]);
  });
});

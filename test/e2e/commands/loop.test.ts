import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";

import { hourMs } from "../../../src/base/time.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const bearer = { authorization: "Bearer example-token" };

interface Listed {
  readonly asset: string;
  readonly revivedAt: string | null;
}

let folder: ProgramFolder;
let sink: HttpSink;
let daemon: Daemon;

// What `npm start` runs, with a webhook beside the console, on a free port and in a folder of its own.
beforeAll(async () => {
  sink = await startHttpSink((response) => response.end("ok"));
  const example = parse(readFileSync(`${root}config.example.yaml`, "utf8")) as {
    source: object;
    server: object;
    receivers: object[];
  };
  folder = await makeProgramFolder(
    stringify({
      ...example,
      source: { ...example.source, preload: [{ events: `${root}examples/events.csv.gz`, rebase: true }] },
      server: { ...example.server, listen: "127.0.0.1:0" },
      receivers: [...example.receivers, { name: "ops", type: "webhook", url: sink.url }],
      storage: { path: "flatline.db" },
    }),
  );
  daemon = await startDaemon([], { cwd: folder.path });
});
afterAll(async () => {
  await daemon.kill();
  await sink.close();
  await folder[Symbol.asyncDispose]();
});

const flatline = (...args: string[]) => runProgram([...args], { cwd: folder.path });
const ask = (...args: string[]) => flatline(...args, "--url", daemon.url);

/** How many deaths a day are expected a day and two hours from now: by then the incident is in the baseline. */
async function expectedTomorrow(): Promise<number> {
  const at = new Date(Date.now() + 26 * hourMs).toISOString();
  const { stdout } = await flatline("check", "ads-hosts", "--at", at, "--json");
  const [{ result }] = JSON.parse(stdout) as [{ result: { observed: { expectedCount: number } } }];
  return result.observed.expectedCount;
}

async function assetsOf(id: string, ...flags: string[]): Promise<Listed[]> {
  const { stdout } = await ask("alerts", "assets", id, "--json", ...flags);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Listed);
}

/** Which of these assets the recorded checker found alive in the weeks after the incident. */
function foundAliveLater(assets: ReadonlySet<string>): string[] {
  const text = gunzipSync(readFileSync(`${root}examples/records/lightswitch.csv.gz`)).toString();
  const alive = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","))
    .filter(
      ([at = "", , , asset = "", status]) =>
        status === "DETECTED_AS_ALIVE" && at > "2019-10-18T12" && at < "2019-12-20" && assets.has(asset),
    );
  return [...new Set(alive.map(([, , , asset = ""]) => asset))];
}

it("alert with a sample, page, judgement, gate, a baseline without the incident", { timeout: 90_000 }, async () => {
  // The alert names assets.
  const alert = await eventually(() => {
    const bodies = sink.requests.map(({ body }) => JSON.parse(body) as { alerts: Told[] });
    return bodies.flatMap(({ alerts }) => alerts).find(({ slug }) => slug === "ads-hosts") ?? null;
  });
  interface Told {
    readonly id: string;
    readonly slug: string;
    readonly event: string;
    readonly sample: readonly { readonly asset: string }[];
  }
  expect(alert).toMatchObject({ event: "firing", sample: { length: 10 } });
  const { id } = alert;

  // The page that it links has a table of them and asks what it was, and the gate holds.
  const page = await (await fetch(`${daemon.url}/alerts/${id}`, { headers: bearer })).text();
  expect(page).toMatch(/<h2>Dead assets<\/h2>/);
  expect(page).toMatch(/href="\/incidents\/\d+\/judge"/);
  expect(await ask("gate", "ads-hosts")).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/hold/) });

  // Somebody re-checks them: exactly those that are not undone are still dead.
  const dead = await assetsOf(id);
  expect(dead).toHaveLength(5_119);
  const undone = foundAliveLater(new Set(dead.map(({ asset }) => asset)));
  expect(undone.length).toBeGreaterThan(2_000);
  const at = new Date().toISOString();
  await folder.write(
    "revivals.csv",
    `at,slug,asset,status\n${undone.map((asset) => `${at},ads-hosts,${asset},DETECTED_AS_ALIVE`).join("\n")}\n`,
  );
  expect((await flatline("import", "events", "revivals.csv")).exitCode).toBe(0);
  const stillDead = await assetsOf(id, "--still-dead");
  const gone = new Set(undone);
  expect(new Set(stillDead.map(({ asset }) => asset))).toEqual(
    new Set(dead.map(({ asset }) => asset).filter((asset) => !gone.has(asset))),
  );

  // It was the checker: by tomorrow its deaths are not expected again.
  const before = await expectedTomorrow();
  const judged = await ask("alerts", "judge", id, "checker", "--comment", "captcha in front of the hosts");
  expect(judged).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("the checker was wrong") });
  const after = await expectedTomorrow();
  expect([before > 700, after < 20]).toEqual([true, true]);

  // The gate holds while it is broken, until somebody says that it is mended.
  expect(await ask("gate", "ads-hosts")).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining("judged checker"),
  });
  const released = await ask("gate", "release", "ads-hosts", "--comment", "the checker is mended");
  expect(released.exitCode).toBe(0);
  expect(await ask("gate", "ads-hosts")).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/allow/) });
});

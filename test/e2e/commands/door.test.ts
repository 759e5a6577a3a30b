import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { createSystemClock } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { runCli } from "../../support/program/cli-run.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { freePort } from "../../support/free-port.ts";

let folder: DaemonFolder;

beforeEach(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
organizations: [acme]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:${await freePort()}" }
`);
});
afterEach(() => folder.close());

const flatline = (command: string) => runCli(command.split(" "), { cwd: folder.path, env: { USER: "Kim" } });

async function audited(): Promise<unknown[]> {
  const rows = await folder.withStore((store) => store.audit.list({ limit: 10 }));
  return rows.map(({ actor, via, action, detail }) => ({
    actor,
    via,
    action,
    ...(detail["user"] === undefined ? {} : { user: detail["user"] }),
  }));
}

it("a command on the machine of a daemon needs no token: it acts as its user, by the token beside the store", async () => {
  const app = await folder.start();

  const outcome = await flatline("silence add acme --comment x");
  const { mode } = await stat(join(folder.path, "flatline.db.token"));
  await app.stop();

  expect(outcome).toMatchObject({ exitCode: 0, stderr: "" });
  expect(mode & 0o777).toBe(0o600);
  expect(await audited()).toEqual([{ actor: "Kim", via: "cli", action: "silence.create" }]);
  expect(await readdir(folder.path)).not.toContain("flatline.db.token");
});

it("without a daemon a command has the same routes itself", async () => {
  const made = await flatline("keys create --organization acme --by Dana");
  const listed = await flatline("keys list --json");

  expect(made.exitCode).toBe(0);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ organizations: ["acme"], role: "customer" }]);
  expect(await audited()).toEqual([{ actor: "Dana", via: "cli", action: "keys.create" }]);
  expect((await flatline("gate acme")).exitCode).toBe(69);
  // A daemon whose clock is years ahead at its first start deletes nothing that was imported before.
  expect(Number(await folder.withStore(({ meta }) => meta.get("deleted_until_ms")))).toBeCloseTo(Date.now(), -6);
});

it("a test needs no store, and leaves none", async () => {
  const before = await readdir(folder.path);

  const { exitCode, stdout } = await flatline("notify test console");

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "console: accepted, logged\n" });
  expect(await readdir(folder.path)).toEqual(before);
});

it("while another process has the store and does not answer, it waits, then says who that is", async () => {
  const clock = createSystemClock();
  const store = await openStore({ path: join(folder.path, "flatline.db"), clock });
  await store.takeWriter();
  let sleptMs = 0;
  const hasty = {
    ...clock,
    // Without the real time of the attempts, which a busy machine makes longer.
    monotonicMs: () => sleptMs,
    sleep: (ms: number, signal?: AbortSignal) => {
      if (ms !== 200) return clock.sleep(ms, signal);
      sleptMs += ms;
      return Promise.resolve();
    },
  };

  const { exitCode, stderr } = await runCli(["keys", "list"], { cwd: folder.path, clock: hasty });
  await store.close();

  expect(exitCode).toBe(69);
  expect(stderr).toMatch(/^flatline: no flatline answers at \S+: connection refused.*; process \d+ on \S+ writes/);
  expect(sleptMs).toBeGreaterThanOrEqual(9_000);
});

it("a command that is stopped while its routes are opened asks them nothing", async () => {
  const line = ["keys", "create", "--organization", "acme"];

  const stopped = await runCli(line, { cwd: folder.path, signal: AbortSignal.abort() });

  expect(stopped).toMatchObject({ exitCode: 69, stdout: "" });
  expect(await audited()).toEqual([]);
});

it("a command for several ids prints what was done before an error", async () => {
  const daemon = await startScriptedUpstream();
  daemon.otherwise(({ path }) => ({ kind: "answer", status: path.endsWith("/b") ? 500 : 200, body: "{}" }));
  const line = ["outbox", "discard", "a", "b", "c", "--url", new URL(daemon.baseUrl).origin];

  const outcome = await runCli(line, { cwd: folder.path, env: { FLATLINE_TOKEN: "token-of-the-tests" } });
  await daemon.close();

  expect([outcome.exitCode === 0, outcome.stdout]).toEqual([false, "a: discarded\n"]);
});

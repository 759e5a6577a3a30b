import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import { alertmanagerMessage, firstSentAtMs, flatlineMessage, type Message } from "../../bench/peers/messages.ts";
import { healthcheckPath, readRecords, startPlatform } from "../../bench/peers/platform.ts";
import { startReceiver } from "../../bench/peers/receiver.ts";
import {
  peersMessages,
  peersTable,
  sideReport,
  type DayResult,
  type OutageResult,
  type PeersResult,
} from "../../bench/peers/report.ts";
import { wireFlatline, wirePeer } from "../../bench/peers/wiring.ts";
import { debianTool } from "../support/debian-tool.ts";
import { makeProgramFolder } from "../support/program/program-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const hourMs = 3_600_000;
const beforeMs = Date.parse("2019-10-18T00:00Z");

describe("the platform of bench:peers", () => {
  it("answers by the records at a time that runs, stands at its end, and can go back", async () => {
    let nowMs = 1_000_000;
    const records = await readRecords();
    const platform = await startPlatform({ records, startMs: beforeMs, hourTakesMs: 5_000, nowMs: () => nowMs });
    onTestFinished(() => platform.close());
    const ask = async (slug: string, key: string): Promise<unknown> => {
      const headers = { "content-type": "application/json", "x-api-key": key };
      const body = JSON.stringify({ slug });
      const response = await fetch(`${platform.url}${healthcheckPath}`, { method: "POST", headers, body });
      const { severity, code } = (await response.json()) as { readonly severity?: string; readonly code?: string };
      return severity ?? code;
    };

    expect(await ask("lightswitch", "flatline")).toBe("ok");
    const endsAtMs = platform.play({ fromMs: beforeMs, toMs: beforeMs + 20 * hourMs });
    expect(endsAtMs).toBe(nowMs + 100_000);
    // Not ok from 02:30 on, looked at every ten minutes; here every minute.
    expect(((platform.brokenAtMs() ?? 0) - nowMs) / 5_000).toBeCloseTo(2.5, 0);
    expect(await ask("lightswitch", "flatline")).toBe("ok");
    nowMs += 60_000;
    expect(await ask("lightswitch", "peer")).toBe("fail");
    expect(await ask("riskhosts", "peer")).toBe("fail");
    nowMs += 9_000_000;
    expect(await ask("riskhosts", "peer")).toBe("fail");
    platform.play({ fromMs: beforeMs, toMs: beforeMs + hourMs });
    expect(await ask("lightswitch", "flatline")).toBe("ok");
    expect(await ask("acme", "flatline")).toBe("BAD_REQUEST");
    expect(Object.fromEntries(platform.requests)).toEqual({ flatline: 4, peer: 3 });
  });
});

describe("the receiver of bench:peers", () => {
  it("refuses connections while it is down, and is back at the same address", async () => {
    const receiver = await startReceiver(() => 7);
    onTestFinished(() => receiver.down());
    const send = async (): Promise<number> => (await fetch(`${receiver.url}/x`, { method: "POST", body: "{}" })).status;

    expect(await send()).toBe(200);
    await receiver.down();
    await expect(send()).rejects.toThrow("fetch failed");
    await receiver.up();
    expect(await send()).toBe(200);
    expect(receiver.received).toEqual([
      { atMs: 7, path: "/x", body: "{}" },
      { atMs: 7, path: "/x", body: "{}" },
    ]);
  });
});

describe("the messages of bench:peers", () => {
  it("are read as flatline sends them", () => {
    const body = readFileSync(`${root}src/receivers/goldens/webhook.firing.json`, "utf8");

    const { alerts, text } = flatlineMessage({ atMs: 5, path: "/flatline", body });

    expect(alerts).toEqual([{ slug: "acme", status: "firing", severity: "fail" }]);
    expect(text).toMatch(/^acme: fail, 5,119 deaths, 11.1 expected \(459×\)\n.*\n?/);
  });

  it("are read as Alertmanager sends them", () => {
    const alert = (status: string, slug: string): object => ({
      status,
      labels: {
        alertname: "DeadAssetSpike",
        instance: "http://127.0.0.1/",
        job: "healthcheck",
        slug,
        severity: "warn",
      },
      annotations: { summary: `${slug} may be broken` },
      startsAt: "2026-11-22T15:00:00.000Z",
      endsAt: "0001-01-01T00:00:00Z",
      generatorURL: "",
      fingerprint: "cd33c0b44cddb8f6",
    });
    const body = JSON.stringify({ version: "4", alerts: [alert("firing", "acme"), alert("resolved", "globex")] });

    expect(alertmanagerMessage({ atMs: 5, path: "/peer", body })).toEqual({
      atMs: 5,
      alerts: [
        { slug: "acme", status: "firing", severity: "warn" },
        { slug: "globex", status: "resolved", severity: "warn" },
      ],
      text: "[firing] acme may be broken\n[resolved] globex may be broken",
    });
  });

  it("are found by organization and status, from an instant on", () => {
    const message = (atMs: number, status: "firing" | "resolved"): Message => ({
      atMs,
      alerts: [{ slug: "acme", status, severity: "fail" }],
      text: "",
    });
    const messages = [message(1, "firing"), message(2, "resolved"), message(3, "firing")];

    expect(firstSentAtMs(messages, { slug: "acme", status: "firing" }, 0)).toBe(1);
    expect(firstSentAtMs(messages, { slug: "acme", status: "firing" }, 2)).toBe(3);
    expect(firstSentAtMs(messages, { slug: "acme", status: "resolved" }, 3)).toBeNull();
    expect(firstSentAtMs(messages, { slug: "globex", status: "firing" }, 0)).toBeNull();
  });
});

describe("the wiring of bench:peers", () => {
  const promtool = debianTool("promtool", "prometheus");
  const amtool = debianTool("amtool", "prometheus-alertmanager");
  const wiring = (folder: string): Parameters<typeof wirePeer>[0] => ({
    folder,
    platformUrl: "http://127.0.0.1:1",
    receiverUrl: "http://127.0.0.1:2",
    slugs: ["acme", "globex"],
    intervalSeconds: 5,
    groupWaitSeconds: 10,
    groupIntervalSeconds: 60,
  });

  it.skipIf(promtool.isMissing || amtool.isMissing)(
    `is what Prometheus and Alertmanager accept${promtool.note}${amtool.note}`,
    async () => {
      await using folder = await makeProgramFolder();

      await wirePeer(wiring(folder.path));

      expect(promtool.run(["check", "config", "prometheus.yml"], folder.path)).toMatchObject({ status: 0, stderr: "" });
      expect(amtool.run(["check-config", "alertmanager.yml"], folder.path)).toMatchObject({ status: 0 });
    },
  );

  it("is a configuration that flatline accepts", async () => {
    await using folder = await makeProgramFolder();

    const [program] = await wireFlatline(wiring(folder.path));

    const [flatline = ""] = program?.args ?? [];
    const check = spawnSync(process.execPath, [flatline, "config", "check", "-c", "flatline.yaml"], {
      cwd: folder.path,
      encoding: "utf8",
    });
    expect(check).toMatchObject({ status: 0, stderr: "" });
  });
});

describe("bench:peers", () => {
  const exporter = debianTool("prometheus-blackbox-exporter", "prometheus-blackbox-exporter");
  const isLong = process.env["FLATLINE_TEST_LONG"] === "1";
  const bench = (words: readonly string[], env: NodeJS.ProcessEnv): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, ["bench/run.ts", "peers", ...words], { cwd: root, env, encoding: "utf8" });

  it("says what is missing and how to install it, with an exit code of its own", () => {
    // The benchmark also looks where Debian keeps its daemons; a machine that has one of them there misses less.
    const { status, stderr } = bench([], { PATH: "/nonexistent" });

    expect(status).toBe(77);
    expect(stderr).toContain("bench:peers needs programs that are not installed: RUNLEVEL=1 apt-get install ");
    expect(stderr).toContain("prometheus-alertmanager");
  });

  it.skipIf(!isLong || exporter.isMissing)(
    `prints its table after a quick run${isLong ? exporter.note : " (skipped: FLATLINE_TEST_LONG is not set)"}`,
    { timeout: 600_000 },
    () => {
      const { status, stdout } = bench(["--quick"], process.env);

      expect(status).toBe(0);
      expect(stdout).toMatch(/\| first message after the break, twice +\| [\d.]+ s, [\d.]+ s +\| [\d.]+ s, [\d.]+ s /);
    },
  );

  const day = (messages: readonly Message[], rest: Partial<DayResult> = {}): DayResult => ({
    brokenAtMs: 1_000,
    messages,
    firstSeconds: [12, null],
    requests: 9,
    cpuSecondsPerMinute: 0.5,
    residentBytes: 100 * 2 ** 20,
    repeatedAfterKill: 0,
    repeatedAfterStop: 0,
    ...rest,
  });
  const outage = (still: number | null, firing: number | null, resolved: number | null): OutageResult => ({
    backAtMs: 0,
    messages: [],
    stillFiringSeconds: still,
    endedFiringSeconds: firing,
    endedResolvedSeconds: resolved,
  });
  const message: Message = {
    atMs: 13_000,
    alerts: [{ slug: "acme", status: "firing", severity: "fail" }],
    text: "first | line\nsecond",
  };
  const result = (later: OutageResult): PeersResult => ({
    name: "peers",
    measuredAt: "2026-11-22T00:00:00.000Z",
    machine: { cpu: "none", cores: 2, memoryGiB: 1, kernel: "6" },
    versions: { node: "24.0.0", flatline: "0.1.0" },
    pace: {
      intervalSeconds: 5,
      groupWaitSeconds: 10,
      groupIntervalSeconds: 60,
      hourTakesMs: 5_000,
      warmUpMs: 0,
      settleMs: 0,
      restartMs: 0,
      outageMs: 600_000,
      lateMs: 0,
    },
    flatline: sideReport({ flatline: "0.1.0" }, day([message]), outage(2, 3, 4)),
    peer: sideReport(
      { one: "1.0.0", other: "2.0.0" },
      day([], { cpuSecondsPerMinute: 1, repeatedAfterKill: 1, repeatedAfterStop: 2 }),
      later,
    ),
  });

  it("writes one row for each question", () => {
    const table = peersTable(result(outage(null, null, 8)));

    expect(table.split("\n")).toEqual([
      "|  | flatline 0.1.0 | one 1.0.0, other 2.0.0 |",
      "| --- | --- | --- |",
      "| first message after the break, twice | 12 s, never | 12 s, never |",
      String.raw`| what it says | first \| line<br>second | nothing |`,
      "| messages, from the break to the end | 1 | 0 |",
      "| receiver down for 10 min: an alert that still fires when it is back | 2 s later | lost |",
      "| … an alert that began and ended meanwhile | firing and resolved, 4 s later | only as resolved, 8 s later |",
      "| repeated after `kill -9` and a start | nothing | 1 message |",
      "| repeated after an ordinary restart | nothing | 2 messages |",
      "| processes | 1 | 2 |",
      "| processor time (the peer's ÷ flatline's: 2×) | 0.5 s per minute | 1 s per minute |",
      "| resident memory (1×) | 100 MiB | 100 MiB |",
    ]);
    expect(peersMessages(result(outage(1, 1, 1)))).toContain("flatline, on the day:\n\n- 12 s: acme firing (fail)\n");
  });

  it.each([
    [outage(1, null, null), "lost"],
    [outage(1, 5, null), "only as firing, 5 s later"],
    [outage(1, 5, 6), "firing and resolved, 6 s later"],
  ])("says of an alert that ended meanwhile what the receiver heard: %j", (later, cell) => {
    expect(peersTable(result(later))).toContain(`| firing and resolved, 4 s later | ${cell} |`);
  });
});

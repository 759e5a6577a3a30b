import { describe, expect, it } from "vitest";

import type { DaemonStatus } from "../contract/v1/status.ts";
import { renderStatus } from "./status.ts";

const calm: DaemonStatus = {
  at: "2026-01-15T12:00:00.000Z",
  sentence: "All 214 organizations are ok.",
  severity: "ok",
  organizations: 214,
  severities: { fail: 0, unknown: 0, warn: 0, ok: 214 },
  alerts: { firing: 0, acknowledged: 0, pending: 0, silenced: 0 },
  unattended: 0,
  gate: { held: 0, longest: null, incidents: [] },
  receivers: [
    {
      name: "pager",
      state: "ok",
      waiting: 0,
      oldestAt: null,
      deadLetters: 0,
      pausedUntil: null,
      lastError: { at: "2026-01-01T12:00:00.000Z", text: "HTTP 503" },
    },
  ],
  runs: { checks: 214, late: 0, lastAt: "2026-01-15T11:59:56.000Z" },
  store: { bytes: 118_000_000, problem: null },
  unwatched: [],
  daemon: { version: "0.2.0", startedAt: "2026-01-14T23:56:00.000Z" },
};
const importing = {
  name: "events.csv",
  rows: 1_200_000,
  received: 50_000,
  organizations: 2,
  startedAt: calm.at,
  renewedAt: calm.at,
};
const [receiver] = calm.receivers ?? [];
if (receiver === undefined) throw new Error("a receiver is needed");

const show = (status: DaemonStatus): string =>
  renderStatus(status, { paint: (text) => text, url: "http://127.0.0.1:9640" });

describe("flatline status", () => {
  it("is short where all is well", () => {
    expect(show(calm)).toBe(`○ All 214 organizations are ok.

severity     ○ 214 ok
alerts       none
takedowns    nothing is on hold
receivers    pager ok
last run     4 s ago, all on time
store        118 MB
daemon       0.2.0, up 12 h 4 min, http://127.0.0.1:9640
`);
  });

  const row = (status: DaemonStatus, name: string): string =>
    show(status)
      .split("\n")
      .find((line) => line.startsWith(name))
      ?.slice(13) ?? "";

  it.each<[rule: string, name: string, changes: Partial<DaemonStatus>, text: string]>([
    [
      "severities stand in the order of their weight",
      "severity",
      { severities: { ok: 210, warn: 1, unknown: 1, fail: 2 } },
      "■ 2 fail   ◌ 1 unknown   ▲ 1 warn   ○ 210 ok",
    ],
    [
      "an import that runs",
      "import",
      { imports: [{ ...importing, isRunning: true }] },
      "events.csv is being imported, 50,000 of 1,200,000 rows: 2 organizations are not checked for spikes meanwhile.",
    ],
    [
      "an import that was killed",
      "import",
      { imports: [{ ...importing, renewedAt: "2026-01-15T09:00:00.000Z", isRunning: false }] },
      "▲ The import of events.csv stopped 3 h ago at 50,000 of 1,200,000 rows: run it again to complete it.",
    ],
    [
      "posts that are refused",
      "events",
      {
        refused: {
          posts: 40,
          since: "2026-01-15T11:50:00.000Z",
          lastAt: "2026-01-15T11:59:50.000Z",
          example: "line 1: at 1 is 1970",
        },
      },
      "▲ 40 posts of events were refused within 10 min, the last 10 s ago: line 1: at 1 is 1970.",
    ],
    [
      "each alert is counted once",
      "alerts",
      { alerts: { firing: 3, acknowledged: 1, pending: 1, silenced: 1 } },
      "3 firing   1 acknowledged   1 pending   1 silenced",
    ],
    [
      "one gate is named",
      "takedowns",
      { gate: { held: 1, longest: { slug: "ads-hosts", since: "2026-01-15T00:20:00.000Z" }, incidents: [2] } },
      "those of ads-hosts are on hold by incident 2: 11 h 40 min",
    ],
    [
      "of several gates the longest is named",
      "takedowns",
      { gate: { held: 2, longest: { slug: "ads-hosts", since: "2026-01-15T00:20:00.000Z" }, incidents: [1, 2] } },
      "those of 2 organizations are on hold by incidents 1, 2, of ads-hosts the longest: 11 h 40 min",
    ],
    [
      "a pending alert holds without an incident",
      "takedowns",
      { gate: { held: 1, longest: { slug: "ads-hosts", since: "2026-01-15T00:20:00.000Z" }, incidents: [] } },
      "those of ads-hosts are on hold: 11 h 40 min",
    ],
    ["a gate that cannot be read is not known", "takedowns", { gate: null }, "◌ not known: the store cannot be read"],
    [
      "a receiver that refuses says how much waits, for how long and why",
      "receivers",
      { receivers: [receiver, { ...receiver, state: "warn", waiting: 12, oldestAt: "2026-01-15T11:19:00.000Z" }] },
      "pager ok   ▲ pager 12 waiting, oldest 41 min, HTTP 503",
    ],
    [
      "a receiver with dead letters fails",
      "receivers",
      { receivers: [{ ...receiver, state: "fail", deadLetters: 1 }] },
      "■ pager 1 not delivered, HTTP 503",
    ],
    [
      "a receiver that asked for a pause says until when",
      "receivers",
      { receivers: [{ ...receiver, state: "warn", pausedUntil: "2026-01-15T12:30:00.000Z", lastError: null }] },
      "▲ pager paused until 12:30:00 UTC",
    ],
    ["without any receiver it says so", "receivers", { receivers: [] }, "▲ none is configured: no alert is sent"],
    [
      "without the right to read receivers it says what is missing",
      "receivers",
      { receivers: undefined },
      "need a token for all organizations with the right read",
    ],
    ["late checks are counted", "last run", { runs: { ...calm.runs, late: 3 } }, "4 s ago, ▲ 3 of 214 checks late"],
    ["before the first run there is none", "last run", { runs: { checks: 1, late: 0, lastAt: null } }, "none yet"],
    [
      "a store that cannot be used says why",
      "store",
      { store: { bytes: 4_096, problem: "its file was deleted" } },
      "4.1 kB   ■ its file was deleted",
    ],
    [
      "slugs that nothing checks are named",
      "not watched",
      { unwatched: ["acme-eu", "globex-test", "umbrella-old", "x", "y"] },
      "5 slugs send events: acme-eu, globex-test, umbrella-old and 2 more",
    ],
  ])("%s", (_rule, name, changes, text) => {
    expect(row({ ...calm, ...changes }, name)).toBe(text);
  });

  it("says the headline alone first: a judged alert fires, and waits for nobody", () => {
    const status = {
      ...calm,
      severity: "warn",
      sentence: "acme\u001b[2J warns.",
      alerts: { ...calm.alerts, firing: 1 },
    };

    const [first] = show(status as DaemonStatus).split("\n");

    expect(first).toMatch(/^▲ acme.* warns\.$/);
    expect(first).not.toContain("\u001b");
  });
});

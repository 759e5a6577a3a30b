import { describe, expect, it } from "vitest";

import type { LogEntry } from "../base/logger.ts";
import { painterFor } from "./context.ts";
import { createTerminalLog, type TerminalLogOptions } from "./terminal-log.ts";

const escape = "\u001b";

function log(options: Partial<TerminalLogOptions> = {}): (entry: Partial<LogEntry>) => string {
  const render = createTerminalLog({
    paint: (text) => text,
    columns: 100,
    logReceivers: new Set(["console"]),
    ...options,
  });
  return (entry) => render({ time: "2026-01-15T02:09:05.123Z", level: "info", msg: "", ...entry });
}

const spike = { check: "dead-asset-spike", slug: "ads-hosts" };
const changed = { msg: "severity changed", ...spike, previousSeverity: "ok" };
const to = (severity: string, more: object = {}): Partial<LogEntry> => ({ ...changed, severity, ...more });
const counts = { currentCount: 5_119, baselineCount: 78, expectedCount: 11.142857142857142, ratio: 459.4 };
const receivedByLog = { level: "error", receiver: "console", severity: "fail" } as const;
const delivery = { receiver: "ops", notification: "n", attempts: 1 };

describe("a line on the terminal", () => {
  it.each<[string, Partial<LogEntry>, string]>([
    ["a fail", to("fail", counts), "FAIL     ads-hosts      5,119 deaths, 11.1 expected (459×)"],
    [
      "nothing expected",
      to("fail", { ...counts, expectedCount: 0, ratio: null }),
      "FAIL     ads-hosts      5,119 deaths, none expected",
    ],
    ["counts that the service does not give", to("warn", { currentCount: null }), "WARN     ads-hosts"],
    [
      "one that is ok again",
      to("ok", { ...counts, previousSeverity: "fail", currentCount: 7, ratio: 0.63 }),
      "OK       ads-hosts      7 deaths, 11.1 expected (0.6×)",
    ],
    [
      "no result",
      { ...changed, severity: "unknown", reason: "forbidden", message: "the API answered 403" },
      "UNKNOWN  ads-hosts      no result: the API answered 403 (forbidden)",
    ],
    [
      "an alert that fires later than its severity",
      { msg: "alert changed", ...spike, event: "firing", reason: "for" },
      "         ads-hosts      alert changed check=dead-asset-spike event=firing reason=for",
    ],
    [
      "a receiver that does not answer",
      { msg: "notification not accepted yet", level: "warn", ...delivery, error: "connection refused" },
      "WARNING  ops            notification not accepted yet attempts=1 error=connection refused",
    ],
    [
      "a receiver of type log",
      { ...receivedByLog, msg: "alert firing", ...spike, event: "firing", count: 12, expected: 3, ratio: 4 },
      "FAIL     ads-hosts      console: firing, 12 deaths, 3.0 expected (4.0×)",
    ],
    [
      "what began together",
      { msg: "fleet verdict holds", incident: 1, together: 3, organizations: 5 },
      "FAIL     fleet          incident 1: 3 of 5 organizations began to spike, from one cause",
    ],
    [
      "the headline that a receiver of type log was sent",
      { ...receivedByLog, msg: "fleet verdict: one cause", summary: "3 of 5 spike.", takedowns: "Takedowns wait." },
      "FAIL     fleet          console: 3 of 5 spike. Takedowns wait.",
    ],
    [
      "what has no words of its own",
      { msg: "clock was set back, computing the due times anew", level: "warn", room: "monitor", backMs: 12 },
      "WARNING  clock was set back, computing the due times anew backMs=12",
    ],
    [
      "what went wrong",
      {
        msg: "evidence of a spike could not be read",
        level: "warn",
        slug: "ads-hosts",
        err: { message: "busy", cause: "locked" },
      },
      "WARNING  ads-hosts      evidence of a spike could not be read: busy (locked)",
    ],
  ])("says %s", (_what, entry, said) => {
    expect(log()(entry)).toBe(`02:09:05 ${said}\n`);
  });

  it.each<[string, Partial<LogEntry>]>([
    ["an organization that is ok at first", { ...changed, previousSeverity: null, severity: "ok" }],
    [
      "an alert whose severity has just been said",
      { msg: "alert changed", ...spike, event: "firing", severity: "fail", reason: "not_ok" },
    ],
    ["a notification before it is accepted", { msg: "notification formed", receiver: "ops", alerts: 3 }],
    ["a delivery to the log itself", { msg: "notification delivered", receiver: "console", attempts: 1 }],
  ])("does not say %s", (_what, entry) => {
    expect(log()(entry)).toBe("");
  });

  it.each([
    [200, 120],
    [100, 100],
    [60, 60],
  ])("on a terminal of %i columns has %i at most", (columns, most) => {
    const line = log({ columns })({ ...changed, severity: "unknown", reason: "network", message: "word ".repeat(100) });

    expect(line.length - 1).toBe(most);
    expect(line).toMatch(/…\n$/);
  });

  it("shows an error whole, a bug with its stack", () => {
    const message = `2 problems\n${"flatline.yaml:1:1: unknown key ".repeat(9)}`;

    const line = log()({
      msg: "configuration not reloaded",
      level: "error",
      err: { message, stack: "Error\n    at here" },
    });

    expect(line).toContain(`ERROR    configuration not reloaded: ${message}\nError\n    at here`);
  });

  it("lets no text steer the terminal", () => {
    const evil = `a${escape}[2Jb\r\u009bc\u202ed\ne`;

    const line = log()({ ...changed, slug: evil, severity: "unknown", reason: "network", message: evil });

    expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(line).toContain(String.raw`a\u001b[2Jb\u000d\u009bc\u202ed`);
  });

  it("has colour for the word, the name and the time only where it may", () => {
    const line = log({ paint: painterFor({ write: () => undefined, isTerminal: true, columns: 80 }, {}) })({
      ...changed,
      severity: "fail",
      ...counts,
    });

    expect(line).toBe(
      `${escape}[2m02:09:05${escape}[0m ${escape}[31mFAIL    ${escape}[0m ` +
        `${escape}[1mads-hosts      ${escape}[0m5,119 deaths, 11.1 expected (459×)\n`,
    );
  });

  it("names the day when it has changed", () => {
    const line = log();
    line({ msg: "flatline stopped" });

    expect(line({ time: "2026-01-16T00:00:01.000Z", msg: "flatline stopped" })).toBe(
      "2026-01-16 UTC\n00:00:01          flatline stopped\n",
    );
  });
});

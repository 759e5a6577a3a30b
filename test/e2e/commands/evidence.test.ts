import { expect, it } from "vitest";

import { createSystemClock, dayMs, hourMs, minuteMs } from "../../../src/base/time.ts";
import { runCli } from "../../support/program/cli-run.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon } from "../../support/program/program.ts";

const token = "a-token-of-the-tests";
const nowMs = createSystemClock().nowMs();
const onsetMs = Math.floor((nowMs - 2 * hourMs) / minuteMs) * minuteMs;

interface Event {
  readonly at: number;
  readonly slug: string;
  readonly asset: string;
  readonly status?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Seventy usual deaths of a week, four reasons in turns; then forty of today, nearly all with one. */
function regression(): Event[] {
  const reasons = ["dns", "http_404", "parked", "tls_handshake"];
  const usual = Array.from({ length: 70 }, (_, index): Event => {
    const reason = index % 20 === 0 ? "tls_handshake" : (reasons[index % 3] ?? "");
    return { at: nowMs - 2 * dayMs - index * 2 * hourMs, slug: "acme", asset: `u${index}`, attributes: { reason } };
  });
  const spike = Array.from({ length: 40 }, (_, index): Event => {
    const attributes = { reason: index % 8 === 0 ? "dns" : "tls_handshake", checker: "eu-2" };
    return { at: onsetMs + index * minuteMs, slug: "acme", asset: `s${index}`, attributes };
  });
  return [...usual, ...spike];
}

it(
  "posted attributes name what carries a spike, in the result, the payload and the check",
  { timeout: 60_000 },
  async () => {
    const sink = await startHttpSink((response) => response.end("ok"));
    const configText = (thresholds: string): string => `
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *", thresholds: { ${thresholds} } }
organizations: [acme]
alerting: { groupWait: 0s, groupInterval: 1s }
receivers: [{ name: ops, type: webhook, url: "${sink.url}" }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`;
    await using folder = await makeProgramFolder(configText(""));
    await using daemon = await startDaemon([], { cwd: folder.path });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const post = (path: string, body?: unknown): Promise<Response> =>
      fetch(`${daemon.url}/api/v1/${path}`, {
        method: "POST",
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const run = async (): Promise<Record<string, unknown>> => {
      const answer = (await (await post("checks/dead-asset-spike/acme/run")).json()) as {
        result: Record<string, unknown>;
      };
      return answer.result;
    };
    const onsetAt = new Date(onsetMs).toISOString();

    expect((await post("events", regression())).status).toBe(200);
    const result = await run();

    expect(result).toMatchObject({
      severity: "warn",
      observed: { currentCount: 40, onsetAt, likelyCause: "checker", revivedCount: 0 },
    });
    await eventually(() => sink.requests.length > 0);
    const [request] = sink.requests;
    const payload = JSON.parse(request?.body ?? "{}") as {
      alerts: { id: string; onsetAt: string; result: { findings: { kind: string; ref: string; message: string }[] } }[];
    };
    expect(payload.alerts[0]).toMatchObject({ slug: "acme", event: "firing", onsetAt });
    const carriers = payload.alerts[0]?.result.findings.filter(({ kind }) => kind === "dead-asset-spike.attribute");
    expect(carriers?.map(({ ref, message }) => [ref, message])).toEqual([
      ["checker=eu-2", "100 % checker=eu-2, usually 0 %"],
      ["reason=tls_handshake", "88 % reason=tls_handshake, usually 6 %"],
    ]);

    const back = Array.from({ length: 24 }, (_, index) => ({
      at: nowMs,
      slug: "acme",
      asset: `s${index}`,
      status: "DETECTED_AS_ALIVE",
    }));
    expect((await post("events", back)).status).toBe(200);
    expect(await run()).toMatchObject({
      observed: {
        revivedCount: 24,
        revivedShare: 0.6,
        likelyCause: "checker",
        likelyCauseReason: "24 of 40 dead assets (60 %) were found alive again.",
      },
    });
    expect(await readText(`${daemon.url}/metrics`)).toContain('key="revivedCount"} 24\n');
    const { id } = payload.alerts[0] ?? { id: "" };
    expect(JSON.parse(await readText(`${daemon.url}/api/v1/alerts`))).toMatchObject({
      alerts: [{ id, currentCount: 40, revivedCount: 24, revivedShare: 0.6 }],
    });
    const listed = await runCli(["alerts", "list", "--url", daemon.url], { cwd: folder.path });
    expect(listed.stdout).toMatch(/ 40 +[\d.]+× +60 % /);
    const proposed = /The evidence speaks for the\s+checker/;
    expect(await readText(`${daemon.url}/alerts/${id}`)).toMatch(proposed);
    await post(`alerts/${id}/judgement`, { verdict: "real" });
    expect(await readText(`${daemon.url}/alerts/${id}`)).not.toMatch(proposed);
    await post(`alerts/${id}/judgement`, { verdict: "checker" });

    const checked = await runCli(["check", "--json"], { cwd: folder.path });
    expect(checked.exitCode).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject([
      { slug: "acme", result: { observed: { onsetAt, revivedCount: 24 } } },
    ]);

    // The platform's own answer has the four keys of its rule and no other.
    const keys = await runCli(["keys", "create", "--organization", "acme"], { cwd: folder.path });
    const key = /\S{20,}/.exec(keys.stdout)?.[0] ?? "";
    await eventually(async () => {
      const answer = await fetch(`${daemon.url}/api/v2/healthchecks/assets/dead-asset-spike`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ slug: "acme" }),
      });
      if (answer.status !== 200) return false;
      const { observed } = (await answer.json()) as { observed: object };
      expect(Object.keys(observed)).toEqual(["currentCount", "baselineCount", "expectedCount", "ratio"]);
      return true;
    });

    // The end of the alert still says when it began, and its deaths are judged after it.
    await folder.write("flatline.yaml", configText("warnMultiplier: 90, failMultiplier: 90"));
    const reloaded = await fetch(`${daemon.url}/-/reload`, {
      method: "POST",
      headers: { authorization: headers.authorization },
    });
    expect(reloaded.status).toBe(200);
    expect(await run()).toMatchObject({ severity: "ok" });
    await eventually(() => sink.requests.length > 1);
    expect(JSON.parse(sink.requests.at(-1)?.body ?? "{}")).toMatchObject({
      alerts: [{ slug: "acme", event: "resolved", onsetAt }],
    });
    const ended = await runCli(["alerts", "list", "--url", daemon.url, "--ended", "acme"], { cwd: folder.path });
    expect(ended.stdout).toMatch(
      /^SEVERITY +CHECK +DETECTED +ENDED +ID +UNDONE +JUDGED\nwarn +dead-asset-spike .* 24 of 40 +checker\n$/,
    );
    const stranger = await runCli(["alerts", "list", "--url", daemon.url, "--ended", "x"], { cwd: folder.path });
    expect([stranger.exitCode, stranger.stderr]).toEqual([64, "flatline: no organization x is checked\n"]);
    await sink.close();
  },
);

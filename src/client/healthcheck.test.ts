import { describe, expect, it } from "vitest";

import { sampleHealthcheck, sampleSpikeRequest } from "../../test/support/far-side/api-samples.ts";
import { benchKey, errorOf, clientBench } from "../../test/support/client-bench.ts";
import { startScriptedUpstream, type ScriptedStep } from "../../test/support/far-side/scripted-upstream.ts";
import { createClient, type ClientOptions } from "./client.ts";
import { checkErrorReason } from "../contract/report.ts";

const bench = clientBench();

function answer(more: Partial<Extract<ScriptedStep, { kind: "answer" }>>): ScriptedStep {
  return { kind: "answer", ...more };
}

const ok = answer({ body: sampleHealthcheck() });
const thrice = (step: ScriptedStep): ScriptedStep[] => [step, step, step];
const ask = (client = bench.client) => client.deadAssetSpike(sampleSpikeRequest());

describe("the request", () => {
  it("carries the slug, all five thresholds and the headers", async () => {
    bench.upstream.script(ok);

    await bench.client.deadAssetSpike({ ...sampleSpikeRequest(), failMultiplier: 6.5 });

    const [request] = bench.upstream.requests;
    expect(request).toMatchObject({
      method: "POST",
      path: "/api/v2/healthchecks/assets/dead-asset-spike",
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "user-agent": "flatline/test",
        "x-api-key": benchKey,
      },
    });
    expect(JSON.parse(request?.body ?? "")).toEqual({
      slug: "acme",
      windowHours: 24,
      baselineDays: 7,
      warnMultiplier: 2,
      failMultiplier: 6.5,
      minSpikeCount: 10,
    });
    expect(bench.events).toEqual([{ operation: "dead_asset_spike", code: "200" }]);
  });

  it("names flatline and its version when nobody chose another name", async () => {
    bench.upstream.script(ok);
    const client = createClient({ baseUrl: `${bench.upstream.baseUrl}/`, apiKey: benchKey });

    await client.deadAssetSpike(sampleSpikeRequest());
    await client.close();

    expect(bench.upstream.requests[0]?.headers["user-agent"]).toMatch(/^flatline\/\d+\.\d+\.\d+/);
    expect(bench.upstream.requests[0]?.path).toBe("/api/v2/healthchecks/assets/dead-asset-spike");
  });
});

describe("an odd but valid answer is a result", () => {
  it.each([
    { rule: "an ok that disagrees with the severity", more: { ok: true, severity: "fail" } },
    { rule: "a scope without an organization", more: { scope: { slug: null } } },
    { rule: "foreign observed keys", more: { observed: { dead: 1, note: 'a\n"b"', flag: false, none: null } } },
    { rule: "a dangerous observed key", more: JSON.parse('{"observed":{"__proto__":1,"constructor":2}}') as object },
    { rule: "a finding about nothing", more: { findings: [{ kind: "k", ref: null, severity: "warn", message: "m" }] } },
  ])("$rule", async ({ more }) => {
    bench.upstream.script(answer({ body: { ...sampleHealthcheck(), ...more } }));

    const result = await ask();

    expect(result.severity).toBe("severity" in more ? more.severity : "ok");
  });
});

describe("of a large answer", () => {
  const finding = { kind: "k", ref: null, severity: "fail", message: "m" };

  async function answerTo(more: Readonly<Record<string, unknown>>, options: Partial<ClientOptions> = {}) {
    bench.upstream.script(answer({ body: sampleHealthcheck({ severity: "fail", ...more }) }));
    return bench.create(options).deadAssetSpike(sampleSpikeRequest());
  }

  it("the first 100 findings are kept, and the others are counted", async () => {
    const findings = Array.from({ length: 5_000 }, (_value, index) => ({ ...finding, ref: `r${index}` }));

    const result = await answerTo({ findings });

    expect(result.findings).toEqual(findings.slice(0, 100));
    expect(result.findingsOmitted).toBe(4_900);
  });

  it("each text is cut to 4,096 characters, and no character in two", async () => {
    const long = `a${"😀".repeat(3_000)}`;
    const map = { [long]: 1, note: long };

    const result = await answerTo({
      id: long,
      title: long,
      generatedAt: long,
      observed: map,
      threshold: map,
      findings: [{ kind: long, ref: long, severity: "warn", message: long }],
      suggestedAction: long,
      appUrl: long,
    });

    const cut = `a${"😀".repeat(2_047)}…`;
    const { id, title, generatedAt, observed, threshold, findings, suggestedAction, appUrl } = result;
    expect(cut).toHaveLength(4_096);
    expect([id, title, generatedAt, suggestedAction, appUrl]).toEqual([cut, cut, cut, cut, cut]);
    expect(findings).toEqual([{ kind: cut, ref: cut, severity: "warn", message: cut }]);
    expect([observed, threshold]).toEqual([
      { [cut]: 1, note: cut },
      { [cut]: 1, note: cut },
    ]);
  });

  it("64 keys of each map are kept: those that carry the counts, then the first by name", async () => {
    const numbered = Array.from({ length: 10_000 }, (_value, index) => [
      `key-${String(index).padStart(5, "0")}`,
      index,
    ]);
    const map = Object.fromEntries([...numbered.toReversed(), ["zero", 0], ["zz", "text"]]) as Record<string, unknown>;

    const result = await answerTo({ observed: map, threshold: map }, { observedKeys: ["zero", "absent", "zz"] });

    const kept = Object.fromEntries([...numbered.slice(0, 62), ["zero", 0], ["zz", "text"]]) as Record<string, unknown>;
    expect(result.observed).toEqual(kept);
    expect(result.threshold).toEqual(kept);
  });

  it("every finding is checked, kept or not", async () => {
    const findings = [...Array.from({ length: 200 }, () => finding), { ...finding, severity: "bad" }];
    bench.upstream.script(answer({ body: sampleHealthcheck({ findings }) }));

    const error = await errorOf(ask());

    expect(error.code).toBe("api_invalid_response");
  });
});

describe("a bad upstream gives its reason", () => {
  const bad: readonly (readonly [rule: string, reason: string, steps: readonly ScriptedStep[]])[] = [
    ["a reset connection", "network", thrice({ kind: "reset" })],
    ["a truncated body", "network", thrice({ kind: "truncated", body: sampleHealthcheck() })],
    ["no HTTP", "network", thrice({ kind: "raw", bytes: "SSH-2.0-x\r\n" })],
    ["an endless body", "invalid_response", [{ kind: "endless" }]],
    [
      "a body over 4 MiB",
      "invalid_response",
      [answer({ body: JSON.stringify(sampleHealthcheck()) + " ".repeat(4 * 1_024 * 1_024) })],
    ],
    ["no JSON", "invalid_response", [answer({ body: "<html>" })]],
    ["another organization", "invalid_response", [answer({ body: sampleHealthcheck({ scope: { slug: "globex" } }) })]],
    ["an unknown severity", "invalid_response", [answer({ body: sampleHealthcheck({ severity: "bad" }) })]],
    ["too deep a nesting", "invalid_response", [answer({ body: "[".repeat(100_000) + "]".repeat(100_000) })]],
    ["204", "invalid_response", [answer({ status: 204 })]],
    ["400", "bad_request", [answer({ status: 400 })]],
    ["401", "unauthorized", [answer({ status: 401 })]],
    ["403", "forbidden", [answer({ status: 403 })]],
    ["404", "bad_request", [answer({ status: 404 })]],
    ["429", "rate_limited", thrice(answer({ status: 429 }))],
    ["500", "server_error", thrice(answer({ status: 500 }))],
    ["503", "server_error", thrice(answer({ status: 503, body: "<html>" }))],
  ];

  it.each(bad)("%s: %s", async (_rule, reason, steps) => {
    bench.upstream.script(...steps);

    const error = await errorOf(ask());

    expect(checkErrorReason(error.code)).toBe(reason);
    expect(bench.upstream.requests).toHaveLength(steps.length);
  });

  it.each([
    { rule: "an upstream that hangs", step: { kind: "hang" } as const },
    { rule: "an upstream that hangs within the body", step: { kind: "hang", body: '{"id"' } as const },
  ])("$rule: timeout, after the time of one attempt", async ({ step }) => {
    bench.upstream.script(step);
    const call = errorOf(ask(bench.create({ retries: 0, timeoutMs: 1_000 })));
    await bench.upstream.received(1);

    await bench.clock.advance(999);
    const eventsBefore = bench.events.length;
    await bench.clock.advance(1);

    expect(checkErrorReason((await call).code)).toBe("timeout");
    expect(eventsBefore).toBe(0);
    expect(bench.events).toEqual([{ operation: "dead_asset_spike", code: "timeout" }]);
  });

  it("a host that refuses the connection: network", async () => {
    const gone = await startScriptedUpstream();
    await gone.close();

    const error = await errorOf(ask(bench.create({ baseUrl: gone.baseUrl })));

    expect(checkErrorReason(error.code)).toBe("network");
  });
});

describe("the key", () => {
  it.each([302, 307])("does not follow a redirect with status %d", async (status) => {
    const target = await startScriptedUpstream();
    bench.upstream.script(answer({ status, headers: { location: `${target.baseUrl}/healthchecks` } }));

    const error = await errorOf(ask());

    expect(error.code).toBe("api_invalid_response");
    expect(target.requests).toHaveLength(0);
    await target.close();
  });

  it("is not in the message when the upstream echoes it", async () => {
    const body = { message: `bad key ${benchKey}`, code: "UNAUTHORIZED", issues: [{ message: `${benchKey}?` }] };
    bench.upstream.script(answer({ status: 401, body }));

    const error = await errorOf(ask());

    expect(error.message).toContain("bad key ***");
    expect(error.issues).toEqual(["***?"]);
  });

  it("is not in the result when the upstream echoes it, in values or names", async () => {
    const more = { title: benchKey, observed: { [benchKey]: 1, note: `x${benchKey}` }, extra: [{ a: benchKey }] };
    bench.upstream.script(answer({ body: sampleHealthcheck(more) }));

    const result = await ask();

    expect(JSON.stringify(result)).not.toContain(benchKey);
    expect(result.observed).toEqual({ "***": 1, note: "x***" });
  });

  it.each(["", "a\nb", "käse", " a"])("that no header can hold (%j) is refused before any request", (apiKey) => {
    expect(() => bench.create({ apiKey })).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });

  it.each(["ftp://a/api/v2", "a/api/v2", "http://a/api/v2?x=1", "http://a/api/v2#x"])(
    "is not sent to %s",
    (baseUrl) => {
      expect(() => bench.create({ baseUrl })).toThrow(expect.objectContaining({ code: "invalid_config" }));
    },
  );
});

describe("what an upstream says in a refusal", () => {
  it("is on one line, without control characters", async () => {
    const message = "no\r\n\u001b[31mred\u0007 \u202eevil\u2028end";
    bench.upstream.script(answer({ status: 400, body: { message, code: "BAD_REQUEST" } }));

    const error = await errorOf(ask());

    expect(error.message).toContain('"no [31mred evil end"');
  });

  it("is cut to 300 characters, and to twenty issues", async () => {
    const issues = Array.from({ length: 30 }, () => ({ message: "😀".repeat(500) }));
    bench.upstream.script(answer({ status: 400, body: { message: "x".repeat(100_000), code: "?", issues } }));

    const error = await errorOf(ask());

    expect(error.message.length).toBeLessThan(500);
    expect(error.issues).toHaveLength(21);
    expect(error.issues[0]).toBe(`${"😀".repeat(300)}…`);
    expect(error.issues[20]).toBe("and 10 more");
  });

  it("may stand inside of `error`", async () => {
    bench.upstream.script(answer({ status: 401, body: { error: { code: "UNAUTHORIZED", message: "who?" } } }));

    const error = await errorOf(ask());

    expect(error.message).toContain('"who?"');
  });
});

describe("attempts", () => {
  it("go on after a timeout", async () => {
    bench.upstream.script({ kind: "hang" }, ok);
    const call = ask();
    await bench.upstream.received(1);

    await bench.clock.advance(30_000);

    expect((await call).severity).toBe("ok");
  });

  it("wait with exponential backoff and full jitter", async () => {
    bench.upstream.script(answer({ status: 500 }), answer({ status: 500 }), ok);
    const call = bench.create({ random: () => 0.5 }).deadAssetSpike(sampleSpikeRequest());
    const sentAtMs: number[] = [];

    for (let index = 1; index <= 3; index++) {
      await bench.clock.advanceUntil(async () => {
        await bench.clock.settleUntil(() => bench.events.length >= index || bench.clock.pendingSleeps() > 0);
        return bench.events.length >= index;
      });
      sentAtMs.push(bench.clock.monotonicMs());
    }
    await call;

    expect(sentAtMs).toEqual([0, 250, 750]);
  });

  it("end when the caller stops while one waits", async () => {
    const stop = new AbortController();
    bench.upstream.script(answer({ status: 500 }));
    const options = { signal: stop.signal };
    const call = errorOf(bench.create({ random: () => 0.5 }).deadAssetSpike(sampleSpikeRequest(), options));
    await bench.clock.settleUntil(() => bench.clock.pendingSleeps() > 0);

    stop.abort();

    expect((await call).code).toBe("api_network");
  });
});

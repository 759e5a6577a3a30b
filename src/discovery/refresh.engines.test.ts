import { afterEach, beforeEach, describe, expect, it } from "vitest";

import {
  startScriptedUpstream,
  type ScriptedStep,
  type ScriptedUpstream,
} from "../../test/support/far-side/scripted-upstream.ts";
import { storeEngines, type OpenedStore } from "../../test/support/store/engines.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { createSilentLogger } from "../base/logger.ts";
import { minuteMs, secondMs } from "../base/time.ts";
import { loadConfig } from "../config/load.ts";
import type { DiscoverConfig } from "../config/config.ts";
import { makeProgramFolder } from "../../test/support/program/program-folder.ts";
import { refreshSource } from "./refresh.ts";

const dispatcher = createHttpDispatcher({ env: {} });
const numbered = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `org-${String(index + from).padStart(3, "0")}`);
const answer = (body: unknown, headers: Record<string, string> = {}): ScriptedStep => ({
  kind: "answer",
  body,
  headers,
});

async function readSourceConfig(url: string): Promise<DiscoverConfig> {
  await using folder = await makeProgramFolder(`
source: { type: embedded }
discover: [{ name: crm, url: "${url}", headers: { authorization: "Bearer secret-of-crm" }, refreshInterval: 1m, maxOrganizations: 50 }]
`);
  const [source] = (await loadConfig({ path: "flatline.yaml", cwd: folder.path, env: {} })).discover;
  if (source === undefined) throw new Error("the configuration has no source");
  return source;
}

describe.each(storeEngines)("a refresh, on $engine,", ({ openTemporary }) => {
  let upstream: ScriptedUpstream;
  let opened: OpenedStore;
  let clock: VirtualClock;
  let source: DiscoverConfig;
  beforeEach(async () => {
    clock = createVirtualClock({ startMs: Date.UTC(2026, 0, 15) });
    [upstream, opened] = await Promise.all([startScriptedUpstream(), openTemporary(clock)]);
    source = await readSourceConfig(`${upstream.origin}/organizations`);
  });
  afterEach(async () => {
    await opened.close();
    await upstream.close();
  });

  async function refresh(step: ScriptedStep, afterMs = minuteMs): Promise<void> {
    upstream.script(step);
    clock.shiftWall(afterMs);
    const { signal } = new AbortController();
    const deps = { store: opened.store, clock, dispatcher, logger: createSilentLogger(), version: "0.0.0" };
    await refreshSource(source, { ...deps, signal, eventRetentionMs: 30 * 24 * 60 * minuteMs });
  }
  const slugs = async (kind: "applied" | "held" = "applied") =>
    (await opened.store.discovery.list("crm", kind))?.map(({ slug }) => slug) ?? null;
  const state = () => opened.store.discovery.state("crm");

  it("sends the ETag of the last answer, and takes a 304 as the same list", async () => {
    await refresh(answer(["acme"], { etag: '"v1"' }));
    await refresh({ kind: "answer", status: 304 });

    expect(upstream.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"v1"']);
    expect(upstream.requests[0]?.headers).toMatchObject({
      authorization: "Bearer secret-of-crm",
      accept: "application/json",
      "user-agent": "flatline/0.0.0",
    });
    expect(await slugs()).toEqual(["acme"]);
    expect(await state()).toMatchObject({ problem: null, held: null, refreshedAtMs: clock.nowMs() });
  });

  it.each<[string, ScriptedStep, RegExp]>([
    ["500", { kind: "answer", status: 500, body: [] }, /^it answered 500$/],
    ["404", { kind: "answer", status: 404, body: ["globex"] }, /^it answered 404$/],
    ["204", { kind: "answer", status: 204 }, /^it answered 204$/],
    ["a 304 that nobody asked for", { kind: "answer", status: 304 }, /^it answered 304; redirects are not followed$/],
    [
      "a redirect",
      { kind: "answer", status: 302, headers: { location: "/list" } },
      /^it answered 302; redirects are not/,
    ],
    ["half a body", { kind: "truncated", body: numbered(40) }, /connection lost|terminated|closed/],
    ["half of the JSON", answer('["acme", "glo'), /^the list is not JSON$/],
    ["a page", answer("<html>login</html>", { "content-type": "text/html" }), /^the list is not JSON$/],
    ["an object", answer({ data: ["acme"] }), /^the list is no JSON array$/],
    ["a bad slug", answer(["acme", " globex"]), /^the list has a bad entry 2: must not begin or end with a blank$/],
    [
      "another field",
      answer([{ slug: "acme", receivers: [] }]),
      /^the list has a bad entry 1: receivers: unknown key$/,
    ],
    ["too many", answer(numbered(51)), /more than 50 organizations/],
    ["a reset", { kind: "reset" }, /connection lost/],
    ["a body without end", { kind: "endless", chunk: "a".repeat(65_536) }, /^its answer has more than 16 MiB$/],
    [
      "thresholds beyond the events' retention",
      answer([{ slug: "acme", thresholds: { baselineDays: 31 } }]),
      /^the list has thresholds of "acme" that look back further than storage.eventRetention$/,
    ],
  ])("keeps the last good list at %s", async (_name, step, problem) => {
    await refresh(answer(numbered(6)));
    await refresh(step);

    expect(await slugs()).toEqual(numbered(6));
    expect((await state())?.problem).toMatch(problem);
    expect(JSON.stringify(await state())).not.toContain("secret-of-crm");
    await refresh(answer(numbered(7)));
    expect(await state()).toMatchObject({ problem: null });
    expect(await slugs()).toEqual(numbered(7));
  });

  it("gives up on a source that does not answer within 30 s", async () => {
    upstream.script({ kind: "hang", body: "[" });
    const { signal } = new AbortController();
    const deps = { store: opened.store, clock, dispatcher, logger: createSilentLogger(), version: "0.0.0" };
    const done = refreshSource(source, { ...deps, signal, eventRetentionMs: 0 });
    await upstream.received(1);
    await clock.advance(30 * secondMs);
    await done;

    expect((await state())?.problem).toBe("no complete answer within 30 s");
  });

  it("never applies an empty list after one that was not", async () => {
    await refresh(answer(numbered(3)));
    for (let times = 0; times < 5; times++) await refresh(answer([]));

    expect(await slugs()).toEqual(numbered(3));
    expect(await slugs("held")).toEqual([]);
    expect(await state()).toMatchObject({ problem: null, held: { reason: "empty" } });
    await refresh(answer(numbered(3)));
    expect(await state()).toMatchObject({ held: null });
    expect(await slugs("held")).toBeNull();
  });

  it("applies an empty list that is the first one", async () => {
    await refresh(answer([]));
    expect(await slugs()).toEqual([]);
    await refresh(answer(["acme"]));
    expect(await slugs()).toEqual(["acme"]);
  });

  it.each([
    ["more than half", 12, numbered(5), false],
    ["exactly half", 12, numbered(6), true],
    ["more than half, but fewer than 5", 6, numbered(2), true],
    ["all, for others", 5, numbered(8, 20), false],
  ])("holds or applies one that removes %s", async (_name, before, offered, isApplied) => {
    await refresh(answer(numbered(before)));
    await refresh(answer(offered));

    expect(await slugs()).toEqual(isApplied ? offered : numbered(before));
    expect((await state())?.held?.reason).toBe(isApplied ? undefined : "shrunk");
  });

  it("applies a shrunk list at the third refresh in a row that gives it, in any order and with other labels", async () => {
    await refresh(answer(numbered(12)));
    await refresh(answer(numbered(3)));
    await refresh(answer(numbered(3).toReversed()));
    expect(await slugs()).toEqual(numbered(12));
    await refresh(answer(numbered(3).map((slug) => ({ slug, labels: { team: "new" } }))));

    expect(await opened.store.discovery.list("crm", "applied")).toEqual(
      numbered(3).map((slug) => ({ slug, labels: { team: "new" } })),
    );
    expect(await state()).toMatchObject({ held: null });
  });

  it.each<[string, ScriptedStep]>([
    ["an error", { kind: "answer", status: 500 }],
    ["another list", answer(numbered(2))],
  ])("counts anew after %s in between", async (_name, between) => {
    await refresh(answer(numbered(12)));
    await refresh(answer(numbered(3)));
    await refresh(answer(numbered(3)));
    await refresh(between);
    await refresh(answer(numbered(3)));
    await refresh(answer(numbered(3)));
    expect(await slugs()).toEqual(numbered(12));
    await refresh(answer(numbered(3)));

    expect(await slugs()).toEqual(numbered(3));
  });

  it("does not count refreshes that come in quick succession, as those of a daemon that restarts again and again", async () => {
    await refresh(answer(numbered(12)));
    for (let times = 0; times < 9; times++) await refresh(answer(numbered(3)), secondMs);

    expect(await slugs()).toEqual(numbered(12));
    expect(await state()).toMatchObject({ held: { repeats: 1 } });
  });
});

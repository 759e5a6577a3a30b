import { afterEach, beforeEach, describe, expect, it } from "vitest";

import {
  startScriptedUpstream,
  type ScriptedStep,
  type ScriptedUpstream,
} from "../../test/support/far-side/scripted-upstream.ts";
import { makeProgramFolder } from "../../test/support/program/program-folder.ts";
import { createFastStore, type FastStore } from "../../test/support/store/fast.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { createSilentLogger } from "../base/logger.ts";
import { dayMs, minuteMs, secondMs } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { createDiscovery, type Discovery } from "./discovery.ts";

const dispatcher = createHttpDispatcher({ env: {} });
const numbered = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `org-${String(index + from).padStart(3, "0")}`);
const answer = (body: unknown, headers: Record<string, string> = {}): ScriptedStep => ({
  kind: "answer",
  body,
  headers,
});

describe("discovery", () => {
  let upstream: ScriptedUpstream;
  let backend: FastStore;
  let clock: VirtualClock;
  let config: Config;
  let discovery: Discovery;
  let applied: Config[];
  beforeEach(async () => {
    clock = createVirtualClock({ startMs: Date.UTC(2026, 0, 15) });
    [upstream, backend] = await Promise.all([startScriptedUpstream(), createFastStore()]);
    await using folder = await makeProgramFolder(`
source: { type: embedded }
organizations: [filed]
discover:
  - name: crm
    url: "${upstream.origin}/organizations"
    headers: { authorization: "Bearer secret-of-crm" }
    refreshInterval: 1m
    maxOrganizations: 50
`);
    const read = await loadConfig({ path: "flatline.yaml", cwd: folder.path, env: {} });
    config = { ...read, storage: { ...read.storage, eventRetentionMs: 30 * dayMs } };
    applied = [];
    discovery = await begin();
  });
  afterEach(async () => {
    await discovery.stop();
    await backend.remove();
    await upstream.close();
  });

  async function begin(): Promise<Discovery> {
    return createDiscovery({
      config,
      store: await backend.connect(),
      clock,
      dispatcher,
      logger: createSilentLogger(),
      version: "0.0.0",
      apply: async (read) => void applied.push(read()),
    });
  }

  /** The first answer is joined before the loop begins; each later one comes a minute after the one before. */
  async function refresh(step: ScriptedStep): Promise<void> {
    upstream.script(step);
    const before = state()?.refreshedAtMs ?? null;
    if (before === null) {
      await discovery.join(config);
      discovery.start();
    } else {
      await clock.advance(minuteMs);
    }
    await clock.advanceUntil(() => state()?.refreshedAtMs !== before);
    await clock.settle();
  }
  const slugs = async (): Promise<string[] | undefined> => {
    const joined = await discovery.join(config);
    return joined.organizations.flatMap(({ slug }) => (slug === "filed" ? [] : [slug]));
  };
  const state = () => discovery.sources()[0];

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
    expect(state()).toMatchObject({ up: true, problem: null, held: null, organizations: 1 });
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
    ["a list with a bad entry", answer(["acme", " globex"]), /^the list has a bad entry 2: slug: must not begin/],
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
    expect(state()?.problem).toMatch(problem);
    expect(JSON.stringify(state())).not.toContain("secret-of-crm");
    await refresh(answer(numbered(7)));
    expect(state()).toMatchObject({ problem: null });
    expect(await slugs()).toEqual(numbered(7));
  });

  it("gives up on a source that does not answer within 30 s, and asks it again when it is due", async () => {
    upstream.script({ kind: "hang", body: "[" }, answer(["acme"]));
    const joined = discovery.join(config);
    await upstream.received(1);
    await clock.advance(30 * secondMs);

    expect((await joined).organizations).toHaveLength(1);
    expect(state()).toMatchObject({ up: false, problem: "no complete answer within 30 s" });
    discovery.start();
    await clock.advanceUntil(() => applied.length > 0);
    expect(applied[0]?.organizations.map(({ slug }) => slug)).toEqual(["filed", "acme"]);
  });

  it("never applies an empty list after one that was not, over a restart too", async () => {
    await refresh(answer(numbered(3)));
    for (let times = 0; times < 4; times++) await refresh(answer([]));

    expect(await slugs()).toEqual(numbered(3));
    expect(state()).toMatchObject({ up: true, problem: null, held: { reason: "empty", added: 0, removed: 3 } });
    await discovery.stop();
    discovery = await begin();
    expect(await slugs()).toEqual(numbered(3));
    await refresh(answer([]));
    expect(state()).toMatchObject({ held: { reason: "empty" } });
    await refresh(answer(numbered(3)));
    expect(state()).toMatchObject({ held: null });
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
    expect(state()?.held?.reason).toBe(isApplied ? undefined : "shrunk");
  });

  it("applies a shrunk list at the third refresh in a row that gives it, in any order, with any labels", async () => {
    await refresh(answer(numbered(12)));
    await refresh(answer(numbered(3)));
    await refresh(answer(numbered(3).toReversed()));
    expect(await slugs()).toEqual(numbered(12));
    await refresh(answer(numbered(3).map((slug) => ({ slug, labels: { team: "new" } }))));

    expect(applied.at(-1)?.organizations.slice(1)).toMatchObject(
      numbered(3).map((slug) => ({ slug, labels: { team: "new" } })),
    );
    expect(state()).toMatchObject({ held: null });
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
});

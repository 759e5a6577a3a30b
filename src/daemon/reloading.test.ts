import { beforeEach, describe, expect, it } from "vitest";

import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import { createSilentLogger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import type { Ground } from "./ground.ts";
import type { Runtime } from "./runtime.ts";
import { createReloading, type Reloading } from "./reloading.ts";

type Applied = ReturnType<Runtime["current"]>;

const configOf = (name: string): Config => ({ name, organizations: [] }) as unknown as Config;
const appliedOf = (config: Config): Applied => ({ config, settings: { of: config } }) as unknown as Applied;
const [before, next] = [configOf("before"), configOf("next")];

let clock: VirtualClock;
let current: Applied;
/** The configurations that the parts got, in order. */
let given: Config[];
let failures: FlatlineError[];
let reloading: Reloading;

beforeEach(() => {
  clock = createVirtualClock({ startMs: 0 });
  current = appliedOf(before);
  given = [];
  failures = [];
  const ground = {
    clock,
    logger: createSilentLogger(),
    metrics: { configReloaded: () => undefined },
    store: { audit: { append: async () => undefined } },
    readConfig: async () => next,
    signal: new AbortController().signal,
  } as unknown as Ground;
  const runtime = {
    current: () => current,
    replace: (config: Config) => void (current = appliedOf(config)),
    restore: (applied: Applied) => void (current = applied),
  };
  const discovery = { join: async (written: Config) => written, settle: () => undefined };
  reloading = createReloading(ground, runtime, discovery, async () => {
    given.push(current.config);
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  });
});

describe("a reload", () => {
  it("is applied when the store fails for a moment: what was lost may be done", async () => {
    failures = [new FlatlineError("store_unusable", "the disk has an input or output error")];

    const reloaded = reloading.reload(actor("signal", "config"));
    await clock.advance(200);
    await reloaded;

    expect([given, current.config]).toEqual([[next, next], next]);
  });

  it("gives every part the configuration back that holds when the store goes on failing", async () => {
    failures = Array.from({ length: 100 }, () => new FlatlineError("store_unusable", "the disk is full"));

    const reloaded = reloading.reload(actor("signal", "config")).catch((error: unknown) => error);
    await clock.advance(10_000);

    expect(await reloaded).toMatchObject({ code: "store_unusable" });
    expect([given.at(-2), given.at(-1), current.config]).toEqual([next, before, before]);
    expect(reloading.reloads().lastReload?.problem).toBe("the disk is full");
  });
});

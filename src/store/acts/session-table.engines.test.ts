import { describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createSystemClock } from "../../base/time.ts";
import type { StoredSession } from "./sessions.ts";

const nowMs = Date.UTC(2026, 5, 1);

function session(sha256: string, changes: Partial<StoredSession> = {}): StoredSession {
  return {
    sha256,
    tokenName: "ops",
    tokenProof: "proof",
    personName: "dana",
    isRemembered: true,
    createdAtMs: nowMs,
    lastUsedAtMs: nowMs,
    ...changes,
  };
}

describe.each(storeEngines)("the sessions, on $engine,", ({ useStore }) => {
  const opened = useStore(createSystemClock);

  it("are found by their hash until they are removed, which is said once", async () => {
    const { sessions } = opened.store;
    const one = session("a");
    const other = session("b", { personName: "kim", isRemembered: false });
    await sessions.add(one);
    await sessions.add(other);

    expect(await sessions.bySha256("a")).toEqual(one);
    expect(await sessions.bySha256("b")).toEqual(other);
    expect(await sessions.bySha256("c")).toBeNull();
    expect(await sessions.remove("a")).toBe(true);
    expect(await sessions.remove("a")).toBe(false);
    expect(await sessions.bySha256("a")).toBeNull();
    expect(await sessions.bySha256("b")).toEqual(other);
  });

  it("keep the latest instant of use", async () => {
    const { sessions } = opened.store;
    await sessions.add(session("a"));

    await sessions.touch("a", nowMs + 2);
    await sessions.touch("a", nowMs + 1);

    expect((await sessions.bySha256("a"))?.lastUsedAtMs).toBe(nowMs + 2);
  });

  it("are pruned when they were not used for long, and removed with their token or its secret", async () => {
    const { sessions } = opened.store;
    const left = async (): Promise<string[]> =>
      (await Promise.all(["a", "b", "c", "d"].map((name) => sessions.bySha256(name)))).flatMap((found) =>
        found === null ? [] : [found.sha256],
      );
    await sessions.add(session("a"));
    await sessions.add(session("b", { lastUsedAtMs: nowMs + 1 }));
    await sessions.add(session("c", { lastUsedAtMs: nowMs + 1, tokenName: "token" }));
    await sessions.add(session("d", { lastUsedAtMs: nowMs + 1, tokenProof: "of another secret" }));

    await sessions.prune(nowMs);
    expect(await left()).toEqual(["b", "c", "d"]);
    const claims = await sessions.claims();
    expect(claims).toHaveLength(3);
    expect(claims).toContainEqual({ tokenName: "ops", tokenProof: "of another secret" });
    await sessions.removeOf({ tokenName: "ops", tokenProof: "proof" });
    expect(await left()).toEqual(["c", "d"]);
  });
});

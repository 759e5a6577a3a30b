import { describe, expect, it } from "vitest";

import { servedHealthcheckSchema } from "../../contract/healthcheck-schemas.ts";
import { evaluateSentinel } from "./sentinel.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const status = (asset: string, name: string, atMs = nowMs, typeId = 0) => ({ typeId, asset, status: name, atMs });

describe("sentinel", () => {
  const dead = (asset: string, typeId = 0, atMs = nowMs) => status(asset, "DETECTED_AS_DEAD", atMs, typeId);
  const alive = (asset: string, typeId = 0) => status(asset, "DETECTED_AS_ALIVE", nowMs, typeId);

  it.each([
    ["ok", "no event of any of them", [], 0, 2],
    ["ok", "all found alive", [alive("a"), alive("b")], 0, 0],
    ["fail", "one called dead", [dead("b")], 1, 1],
    ["fail", "one called dead as a URL and alive as a page", [dead("b", 1), alive("b", 2)], 1, 1],
    ["fail", "one called dead as a URL and as a page", [dead("b", 1), dead("b", 2)], 1, 1],
    ["ok", "a URL called dead, alive since by an event without a type", [dead("b", 1, nowMs - 1), alive("b")], 0, 1],
    ["ok", "another status", [status("b", "TIMED_OUT")], 0, 1],
  ])("is %s with %s", (severity, _rule, statuses, count, unseen) => {
    const result = evaluateSentinel({ slug: "acme", nowMs, assets: ["a", "b"], statuses, appUrl: null });

    expect(result).toMatchObject({ severity, ok: severity === "ok", observed: { sentinels: 2, dead: count, unseen } });
    expect(servedHealthcheckSchema.parse(result)).toEqual(result);
    expect(result.findings.map(({ ref }) => ref)).toEqual(count === 0 ? [] : ["acme", "b"]);
  });

  it("names ten, the oldest first, and says how many there are", () => {
    const assets = Array.from({ length: 12 }, (_, index) => `asset-${index}`);
    const statuses = assets.map((asset, index) => status(asset, "DETECTED_AS_DEAD", nowMs - index));

    const { findings } = evaluateSentinel({ slug: "acme", nowMs, assets, statuses, appUrl: null });

    expect(findings).toHaveLength(11);
    expect(findings[0]?.message).toBe(
      "12 of 12 assets that are known to be alive are called dead, 10 of them named here",
    );
    expect(findings[1]?.ref).toBe("asset-11");
  });
});

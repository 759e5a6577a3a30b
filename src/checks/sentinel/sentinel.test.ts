import { describe, expect, it } from "vitest";

import { servedHealthcheckSchema } from "../../contract/healthcheck-schemas.ts";
import { evaluateSentinel } from "./sentinel.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const status = (asset: string, name: string, atMs = nowMs, typeId = 0) => ({ typeId, asset, status: name, atMs });

describe("sentinel", () => {
  it.each([
    { rule: "no event of any of them", statuses: [], severity: "ok", dead: 0, unseen: 2 },
    {
      rule: "all found alive",
      statuses: [status("a", "DETECTED_AS_ALIVE"), status("b", "DETECTED_AS_ALIVE")],
      severity: "ok",
      dead: 0,
      unseen: 0,
    },
    { rule: "one called dead", statuses: [status("b", "DETECTED_AS_DEAD")], severity: "fail", dead: 1, unseen: 1 },
    {
      rule: "one called dead as a URL and alive as a page",
      statuses: [status("b", "DETECTED_AS_DEAD", nowMs, 1), status("b", "DETECTED_AS_ALIVE", nowMs, 2)],
      severity: "fail",
      dead: 1,
      unseen: 1,
    },
    {
      rule: "one called dead as a URL and as a page",
      statuses: [status("b", "DETECTED_AS_DEAD", nowMs, 1), status("b", "DETECTED_AS_DEAD", nowMs, 2)],
      severity: "fail",
      dead: 1,
      unseen: 1,
    },
    {
      rule: "one called dead as a URL, and alive since by an event without a type",
      statuses: [status("b", "DETECTED_AS_DEAD", nowMs - 1, 1), status("b", "DETECTED_AS_ALIVE", nowMs)],
      severity: "ok",
      dead: 0,
      unseen: 1,
    },
    { rule: "another status", statuses: [status("b", "TIMED_OUT")], severity: "ok", dead: 0, unseen: 1 },
  ])("is $severity with $rule", ({ statuses, severity, dead, unseen }) => {
    const result = evaluateSentinel({ slug: "acme", nowMs, assets: ["a", "b"], statuses, appUrl: null });

    expect(result).toMatchObject({ severity, ok: severity === "ok", observed: { sentinels: 2, dead, unseen } });
    expect(servedHealthcheckSchema.parse(result)).toEqual(result);
    expect(result.findings.map(({ ref }) => ref)).toEqual(dead === 0 ? [] : ["acme", "b"]);
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

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { FlatlineError } from "../../base/errors.ts";
import {
  bearer,
  harnessNowMs,
  oneToken,
  snapshotOf,
  startWeb,
  token,
  type RunningWeb,
} from "../../../test/support/web-harness.ts";

let web: RunningWeb;

beforeEach(async () => {
  web = await startWeb();
  web.world.snapshots = [snapshotOf(resultReport({ slug: "acme" })), snapshotOf(errorReport({ slug: "globex" }))];
  web.world.unwatched = [{ slug: "acme-eu", events: 3, firstAtMs: 1, lastAtMs: 2 }];
});
afterEach(() => web.close(0));

async function status(headers: Record<string, string>): Promise<Record<string, unknown>> {
  const response = await fetch(`${web.url}/api/v1/status`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

describe("GET /api/v1/status", () => {
  it("says how the fleet is, what is held and how the receivers are", async () => {
    expect(await status(bearer)).toMatchObject({
      at: new Date(harnessNowMs).toISOString(),
      severity: "fail",
      organizations: 2,
      severities: { fail: 1, unknown: 1, warn: 0, ok: 0 },
      alerts: { firing: 0, acknowledged: 0, pending: 0, silenced: 0 },
      gate: { held: 0, longest: null },
      runs: { checks: 2, late: 0 },
      store: { bytes: 4_096, problem: null },
      unwatched: ["acme-eu"],
      daemon: { startedAt: new Date(harnessNowMs).toISOString() },
    });
  });

  it("answers while the gate cannot be read", async () => {
    web.world.heldSince = () => Promise.reject(new FlatlineError("store_busy", "the server is away"));

    expect(await status(bearer)).toMatchObject({ gate: null, organizations: 2 });
  });

  it("leaves receivers and unwatched slugs out without a token", async () => {
    const shown = await status({});

    expect(shown).toMatchObject({ organizations: 2 });
    expect(shown).not.toHaveProperty("receivers");
    expect(shown).not.toHaveProperty("unwatched");
  });

  it("shows a token for some organizations those alone, and nothing about all", async () => {
    web.world.access = {
      ...web.world.access,
      tokens: [{ ...oneToken(token), organizations: ["globex"] }],
    };

    const shown = await status(bearer);

    expect(shown).toMatchObject({ organizations: 1, severity: "unknown", store: { bytes: null } });
    expect(shown).not.toHaveProperty("receivers");
  });
});

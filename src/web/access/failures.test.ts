import { expect, it } from "vitest";

import { ask, useWebs, token } from "../../../test/support/web-harness.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { createSilentLogger } from "../../base/logger.ts";
import { minuteMs } from "../../base/time.ts";
import type { FailedVia } from "../../contract/actor.ts";
import { createFailureNotes } from "./failures.ts";

const start = useWebs();

it.each<{ rule: string; route: string; headers: Record<string, string>; failed: readonly FailedVia[] }>([
  {
    rule: "a wrong Bearer token",
    route: "GET /api/v1/silences",
    headers: { authorization: "Bearer no" },
    failed: ["token"],
  },
  {
    rule: "one that reads what is public",
    route: "GET /api/v1/checks",
    headers: { authorization: "Bearer no" },
    failed: ["token"],
  },
  { rule: "no token at all", route: "GET /api/v1/silences", headers: {}, failed: [] },
  { rule: "the right token", route: "GET /api/v1/silences", headers: { authorization: `Bearer ${token}` }, failed: [] },
  {
    rule: "a link with another signature",
    route: "GET /act/acknowledge/41?signature=no",
    headers: {},
    failed: ["link"],
  },
  {
    rule: "a hook with another signature",
    route: "POST /api/v1/hooks/pagerduty/pager",
    headers: { "x-pagerduty-signature": "v1=no" },
    failed: ["pagerduty"],
  },
])("$rule is noted as $failed", async ({ route, headers, failed }) => {
  const noted: FailedVia[] = [];
  const web = await start({ noteFailure: (via) => void noted.push(via) });

  await ask(web, route, headers);

  expect(noted).toEqual(failed);
});

it("counts each failure and logs the first at once, the others in a line per minute", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const counted: FailedVia[] = [];
  const logged: object[] = [];
  const logger = { ...createSilentLogger(), warn: (fields: object) => void logged.push(fields) };
  const note = createFailureNotes({ logger, clock }, (via) => void counted.push(via));

  for (let count = 0; count < 1_000; count++) note("token", "192.0.2.7");
  note("link", "192.0.2.8");
  await clock.advance(minuteMs);
  note("token", "192.0.2.9");

  expect(counted).toHaveLength(1_002);
  expect(logged).toEqual([
    { via: "token", address: "192.0.2.7", unlogged: 0 },
    { via: "link", address: "192.0.2.8", unlogged: 0 },
    { via: "token", address: "192.0.2.9", unlogged: 999 },
  ]);
});

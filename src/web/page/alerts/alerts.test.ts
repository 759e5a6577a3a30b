import { expect, it } from "vitest";

import { ask, useWebs } from "../../../../test/support/web-harness.ts";
import type { OutboxEntry } from "../../../store/alerts/outbox-entry.ts";
import type { PageAlert } from "../ports.ts";
import { renderAlerts } from "./alerts.ts";

const start = useWebs();
const nowMs = Date.UTC(2026, 0, 15, 12);

function view(slug: string, counts: Pick<PageAlert, "expected" | "ratio">): PageAlert {
  return {
    alert: {
      id: slug,
      check: "dead-asset-spike",
      slug,
      kind: "verdict",
      state: "firing",
      severity: "fail",
      startsAtMs: nowMs - 60_000,
      firingAtMs: nowMs - 60_000,
      okSinceMs: null,
      unknownRuns: 0,
      peak: { severity: "fail", currentCount: 30, atMs: nowMs - 60_000 },
      acknowledgement: null,
      reason: "not_ok",
    },
    endsAtMs: null,
    labels: {},
    url: null,
    isSilenced: false,
    silencedUntilMs: null,
    firesAtMs: null,
    deaths: null,
    ...counts,
  };
}

it("says «from 0» where none was expected, before every other ratio, and nothing where nobody knows", () => {
  const alerts = [
    view("unknown", { expected: null, ratio: null }),
    view("times", { expected: 2, ratio: 15 }),
    view("first", { expected: 0, ratio: null }),
  ];
  const data = { nowMs, alerts, held: 0, retentionDays: 90, withPeople: true, hasToken: true };

  const { html } = renderAlerts(data, { text: "", days: 90, page: 1 });

  const rows = [...html.matchAll(/title="(\w+)"[\s\S]*?a-ratio[^>]*>([^<]*)</g)].map(([, slug, ratio]) => [
    slug,
    ratio?.trim(),
  ]);
  expect(rows).toEqual([
    ["first", "from 0"],
    ["times", "15.0×"],
    ["unknown", "–"],
  ]);
});

it("reads of the outbox only what waits for the alert of the page", async () => {
  const web = await start();
  const { startsAtMs } = view("acme", { expected: 2, ratio: 15 }).alert;
  web.world.pageAlert = {
    view: view("acme", { expected: 2, ratio: 15 }),
    history: [],
    comments: [],
    worstResult: null,
  };
  const dead = { recipient: null, state: "dead", attempts: 3, nextAttemptAtMs: 0, lastError: "HTTP 410" } as const;
  const entry = (receiver: string, subject: string, createdAtMs: number): OutboxEntry => ({
    ...dead,
    id: receiver,
    receiver,
    createdAtMs,
    subjects: [subject],
  });
  web.world.outbox = [
    entry("of-last-year", "dead-asset-spike/acme/verdict", startsAtMs - 1),
    entry("of-now", "dead-asset-spike/acme/verdict", startsAtMs),
    entry("of-another", "dead-asset-spike/globex/verdict", startsAtMs),
  ];

  const html = await (await ask(web, "GET /alerts/acme")).text();

  expect(web.world.outboxReads).toBe(0);
  expect([...html.matchAll(/\bof-\w+/g)].map(([receiver]) => receiver)).toContain("of-now");
  expect(html).not.toMatch(/of-last-year|of-another/);
});

import { createHash, createHmac } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { insideOf, oddJson, oddText } from "../../support/odd-input.ts";
import { listAlerts, useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";
import { isLong } from "../../support/tier.ts";

const secrets = {
  token: "a-token-of-the-tests",
  webhook: "the-secret-of-the-webhook",
  routing: "the-key-of-the-pager",
};
const numRuns = isLong ? 5_000 : 150;

const folder = useDaemonFolder();
let database: DatabaseSync;
let alertId: string;

beforeAll(async () => {
  await folder.configure(`
defaults: { schedule: "@yearly" }
organizations: [acme, globex]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers:
  - { name: pager, type: pagerduty, routingKey: ${secrets.routing}, webhookSecret: ${secrets.webhook}, url: "http://127.0.0.1:9/v2" }
server: { listen: "${folder.listen}", token: ${secrets.token} }
`);
  for (const slug of ["acme", "globex"]) await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
  await folder.start();
  database = new DatabaseSync(join(folder.path, "flatline.db"), { readOnly: true });
  alertId = await eventually(async () => {
    const alerts = await listAlerts(folder.url, secrets.token);
    return alerts.find(({ state }) => state === "firing")?.id ?? null;
  });
});
afterAll(async () => {
  database.close();
});

// What a refused request must leave as it was: acts, and what is said of them.
const tables = ["silences", "markers", "alert_log", "audit", "api_keys"];

/** The same for the same state. */
function stateHash(): string {
  const found = database
    .prepare("select name from sqlite_master where type = 'table'")
    .all()
    .map(({ name }) => String(name));
  const hash = createHash("sha256");
  for (const name of found.filter((one) => tables.includes(one)))
    for (const row of database.prepare(`select * from "${name}"`).iterate()) hash.update(JSON.stringify(row));
  return hash.digest("hex");
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Asks, and expects what is promised of any answer. */
async function ask({ method, path, headers = {}, body }: Asked): Promise<number> {
  const before = stateHash();
  const authorization = `Bearer ${secrets.token}`;
  const all = { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers };
  const answer = await fetch(`${folder.url}${path}`, {
    method,
    headers: all,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();

  expect(answer.status, text).toBeLessThan(500);
  expect(insideOf(text)).toEqual([]);
  for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
  if (answer.status >= 400) {
    if (answer.headers.get("content-type")?.startsWith("application/json") === true && text !== "")
      expect(JSON.parse(text)).toMatchObject({ message: expect.any(String), code: expect.stringMatching(/^[A-Z_]+$/) });
    expect(stateHash(), "a refused request has changed something").toBe(before);
  }
  return answer.status;
}

const acts: readonly (readonly [string, unknown])[] = [
  [
    "/api/v1/silences",
    { slug: "acme", startsAt: "2100-01-01T00:00:00Z", endsAt: "2100-01-02T00:00:00Z", comment: "migration" },
  ],
  ["/api/v1/markers", { text: "rollout 7", at: "2026-01-02T00:00:00Z", slug: "acme" }],
  ["/api/v1/keys", { organizations: ["acme"], role: "staff", name: "soc" }],
  ["/api/v1/alerts/ALERT/comments", { comment: "seen" }],
  ["/api/v1/alerts/ALERT/ack", { comment: "on it" }],
  ["/api/v1/incidents/1/judgement", { verdict: "checker", comment: "captcha", slugs: ["acme"] }],
  ["/api/v1/gate/acme/release", { comment: "checked by hand" }],
  ["/api/v1/events", [{ at: "2026-11-20T00:00:00Z", slug: "globex", id: "e-1", assetType: "URL" }]],
  ["/api/v2/healthchecks/assets/dead-asset-spike", { slug: "acme", windowHours: 24, failMultiplier: 4.5 }],
  ["/api/v2/organization/proposals/301/review", { assetId: 501, decision: "REJECT", rejectReason: "irrelevant" }],
];
const reads = [
  "/metrics",
  "/probe?slug=acme&check=dead-asset-spike",
  "/api/v1/checks",
  "/api/v1/alerts/ALERT",
  "/api/v1/incidents?state=all&family=deaths&limit=5",
  "/api/v1/markers?from=2026-01-01T00:00:00Z&to=2026-12-01T00:00:00Z",
  "/api/v1/audit?since=2026-01-01T00:00:00Z&limit=10&cursor=abc",
  "/api/v2/organization/reports?slug=acme&limit=20&startDate=2026-01-01T00:00:00.000Z",
  "/?q=acme severity:fail&page=2",
  "/o/acme?range=7d&from=1767225600000",
  "/incidents/1",
];
const at = (path: string): string => path.replace("ALERT", alertId);
// What fetch sends as it is.
const plain = (path: string): string => `/${encodeURI(path.toWellFormed()).replaceAll("#", "%23").replace(/^\/+/, "")}`;

describe("any request is answered as promised, and changes nothing when it is refused:", () => {
  it("a body that is not what a route takes", async () => {
    const act = fc.constantFrom(...acts).chain(([path, sample]) =>
      fc.record({
        path: fc.constant(path),
        body: fc.oneof(
          oddJson([sample]).map((value) => JSON.stringify(value) ?? ""),
          oddText([JSON.stringify(sample)]),
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(act, async ({ path, body }) => void (await ask({ method: "POST", path: at(path), body }))),
      { numRuns },
    );
  });

  it("another path, query or header", async () => {
    const headers = fc.dictionary(
      fc.constantFrom("accept", "x-api-key", "if-none-match", "range", "cookie", "x-prometheus-scrape-timeout-seconds"),
      fc.constantFrom("", "*/*", "bytes=0-1", "flatline_session=abc", "10.5", "-1", "a".repeat(4_000)),
      { maxKeys: 2 },
    );
    const request = fc.record({
      method: fc.constantFrom("GET", "GET", "DELETE", "PUT"),
      path: oddText(reads),
      headers,
    });
    await fc.assert(
      fc.asyncProperty(request, async (one) => void (await ask({ ...one, path: plain(at(one.path)).slice(0, 8_000) }))),
      { numRuns },
    );
  });

  it("a webhook of PagerDuty: a right signature is taken, another one is not", async () => {
    const event = { id: "event-1", event_type: "incident.acknowledged", occurred_at: "2026-11-22T00:00:00.000Z" };
    const sample = { event: { ...event, agent: { summary: "K. Osei" }, data: { incident_key: "flatline-1" } } };
    const signed = fc.record({
      body: oddJson([sample]).map((value) => JSON.stringify(value) ?? ""),
      altered: fc.option(fc.nat({ max: 63 })),
    });
    await fc.assert(
      fc.asyncProperty(signed, async ({ body, altered }) => {
        const right = createHmac("sha256", secrets.webhook).update(body).digest("hex");
        const other = (digit: string): string => (digit === "0" ? "1" : "0");
        const signature = right
          .split("")
          .map((digit, index) => (index === altered ? other(digit) : digit))
          .join("");
        const headers = { "x-pagerduty-signature": `v1=${signature}` };
        const status = await ask({ method: "POST", path: "/api/v1/hooks/pagerduty/pager", headers, body });

        if (altered === null) expect(status).not.toBe(403);
        else expect(status).toBe(403);
      }),
      { numRuns },
    );
  });
});

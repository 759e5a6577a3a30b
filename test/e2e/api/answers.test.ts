import { beforeAll, expect, it } from "vitest";
import { z } from "zod";

import { hourMs } from "../../../src/base/time.ts";
import {
  alertDetailSchema,
  alertListSchema,
  checkSchema,
  runReportSchema,
  gateListSchema,
  gateSchema,
} from "../../../src/contract/v1/alerts.ts";
import { deadAssetPageSchema, incidentAssetPageSchema } from "../../../src/contract/v1/incidents.ts";
import {
  listedKeySchema,
  markerSchema,
  auditSchema,
  ingestedSchema,
  outboxEntrySchema,
  receiverSchema,
  receiverTestSchema,
  unwatchedSchema,
  silenceSchema,
} from "../../../src/contract/v1/operator.ts";
import { statusSchema } from "../../../src/contract/v1/status.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";

const folder = useDaemonFolder();
let alertId: string;

const bearer = { authorization: "Bearer a-token-of-the-tests", "content-type": "application/json" };

async function ask(route: string, headers: Record<string, string> = bearer, body?: object): Promise<unknown> {
  const [method = "GET", path = "/"] = route.replace(":id", alertId).split(" ");
  const response = await fetch(`${folder.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status, route).toBeLessThan(300);
  return response.json();
}

beforeAll(async () => {
  alertId = "";
  await folder.configure(`
defaults: { schedule: "@yearly" }
organizations: [acme, { slug: quiet, reviewQueue: { enabled: true, schedule: "@yearly" } }]
receivers: [{ name: pager, type: log }, { name: far, type: webhook, url: "http://127.0.0.1:9/" }]
alerting: { groupWait: 0s, fleet: { minOrganizations: 1 } }
silences: [{ schedule: "0 2 * * 6", duration: 2h, slug: quiet, comment: backups }]
server: { listen: "${folder.listen}", token: a-token-of-the-tests }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("stranger", { lastHour: 1, perDay: 1 });
  await folder.start();
  await ask("POST /api/v1/markers", bearer, { text: "a rollout" });
  await ask("POST /api/v1/keys", bearer, { organizations: ["acme"] });
  await ask("POST /api/v1/imports", bearer, { name: "events.csv", slugs: ["stranger"], rows: 2 });
  await ask("POST /api/v1/checks/dead-asset-spike/acme/run", { authorization: bearer.authorization });
  const { alerts } = alertListSchema.parse(await ask("GET /api/v1/alerts"));
  alertId = alerts[0]?.id ?? "";
  await ask("POST /api/v1/alerts/:id/ack", bearer, { comment: "seen" });
  await ask("POST /api/v1/alerts/:id/judgement", bearer, { verdict: "checker", comment: "it was" });
  await ask("POST /api/v1/alerts/:id/comments", bearer, { comment: "and more" });
});

const routes: readonly (readonly [route: string, schema: z.ZodType, body?: object])[] = [
  ["GET /api/v1/checks", z.array(checkSchema)],
  ["GET /api/v1/checks/dead-asset-spike/acme", checkSchema],
  ["GET /api/v1/checks/review-queue/quiet", checkSchema],
  ["GET /api/v1/alerts", alertListSchema],
  ["GET /api/v1/alerts/:id", alertDetailSchema],
  ["GET /api/v1/gate", gateListSchema],
  ["GET /api/v1/gate/acme", gateSchema],
  ["GET /api/v1/markers", z.array(markerSchema)],
  ["GET /api/v1/status", statusSchema],
];
const closedRoutes: typeof routes = [
  ["POST /api/v1/checks/dead-asset-spike/quiet/run", runReportSchema],
  ["GET /api/v1/alerts/:id/assets?limit=1", deadAssetPageSchema],
  ["GET /api/v1/incidents/1/assets?limit=1", incidentAssetPageSchema],
  [
    "POST /api/v1/silences",
    silenceSchema,
    { slug: "*", endsAt: new Date(Date.now() + hourMs).toISOString(), comment: "x" },
  ],
  ["GET /api/v1/keys", z.array(listedKeySchema)],
  ["GET /api/v1/silences", z.array(silenceSchema)],
  ["GET /api/v1/outbox", z.array(outboxEntrySchema)],
  ["GET /api/v1/receivers", z.array(receiverSchema)],
  ["POST /api/v1/receivers/pager/test", receiverTestSchema],
  ["GET /api/v1/unwatched", unwatchedSchema],
  ["GET /api/v1/audit?limit=2", auditSchema],
  ["POST /api/v1/events", ingestedSchema, []],
];

it.each([
  ...routes.map(([route, schema]) => ["anyone", route, schema, undefined] as const),
  ...[...routes, ...closedRoutes].map(([route, schema, body]) => ["who has the token", route, schema, body] as const),
])("declares to %s every field of %s", async (who, route, schema, body) => {
  const answer = await ask(route, who === "anyone" ? {} : bearer, body);

  // A field that is not declared would be dropped.
  expect(schema.parse(answer)).toEqual(answer);
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  platformKeys,
  rejection,
  startPlatformServer,
  type PlatformServer,
} from "../../../test/support/far-side/platform-server.ts";
import { sendRaw } from "../../../test/support/web-harness.ts";
import { createByteBudget } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import { errorBodySchema } from "../../contract/error-body.ts";
import { servedHealthcheckSchema } from "../../contract/healthcheck-schemas.ts";
import { reportRecordsPageSchema } from "../../contract/report-schemas.ts";

const spike = "/healthchecks/assets/dead-asset-spike";
const reports = "/organization/reports";
const review = "/organization/proposals/301/review";

let server: PlatformServer;

beforeAll(async () => {
  server = await startPlatformServer();
});

afterAll(async () => {
  await server.close();
});

const large = "x".repeat(1_100_000);
const rejected = { slug: "globex", assetId: 501, decision: "REJECT" };

/** Method, path, then body and key. */
type Call = Parameters<PlatformServer["call"]>;

const refused: readonly (readonly [rule: string, answer: string, call: Call])[] = [
  ["no key", "401 UNAUTHORIZED", ["GET", reports, { key: null }]],
  ["an unknown key", "401 UNAUTHORIZED", ["GET", reports, { key: "nobody" }]],
  ["a key in another case", "401 UNAUTHORIZED", ["GET", reports, { key: platformKeys.acme.toUpperCase() }]],
  ["no key for the description", "401 UNAUTHORIZED", ["GET", "/openapi.json", { key: null }]],
  ["no key for no path", "401 UNAUTHORIZED", ["GET", "/nowhere", { key: null }]],
  ["no key for a path that cannot be decoded", "401 UNAUTHORIZED", ["GET", "/%zz", { key: null }]],
  ["no key for an odd method", "401 UNAUTHORIZED", ["PROPFIND", reports, { key: null }]],
  ["no key before the method", "401 UNAUTHORIZED", ["DELETE", reports, { key: null }]],
  ["no key before the body", "401 UNAUTHORIZED", ["POST", spike, { key: null, body: "{" }]],
  ["no key before the size of the body", "401 UNAUTHORIZED", ["POST", spike, { key: null, body: large }]],
  ["no such path", "404 NOT_FOUND", ["GET", "/nowhere"]],
  ["a path that cannot be decoded", "404 NOT_FOUND", ["GET", "/%zz"]],
  ["a proposal id that cannot be decoded", "400 BAD_REQUEST", ["POST", review.replace("301", "%ff"), { body: {} }]],
  ["GET of the healthcheck", "404 NOT_FOUND", ["GET", spike]],
  ["POST of the listing", "404 NOT_FOUND", ["POST", reports, { body: {} }]],
  ["an odd method", "404 NOT_FOUND", ["PROPFIND", reports]],
  ["a body that is too large", "413 BAD_REQUEST", ["POST", spike, { body: large }]],
  ["a body that is no JSON", "400 BAD_REQUEST", ["POST", spike, { body: "{" }]],
  ["a body that is no UTF-8", "400 BAD_REQUEST", ["POST", spike, { body: Buffer.from([0x22, 0xff, 0x22]) }]],
  ["no body", "400 BAD_REQUEST", ["POST", spike]],
  [
    "a bad threshold before the slug",
    "400 BAD_REQUEST",
    ["POST", spike, { body: { slug: "globex", windowHours: "24" } }],
  ],
  ["a bad limit before the slug", "400 BAD_REQUEST", ["GET", `${reports}?slug=globex&limit=101`]],
  ["a REJECT without a reason before the slug", "400 BAD_REQUEST", ["POST", review, { body: rejected }]],
  ["a repeated parameter", "400 BAD_REQUEST", ["GET", `${reports}?limit=5&limit=5`]],
  ["__proto__ as a parameter", "400 BAD_REQUEST", ["GET", `${reports}?__proto__=x`]],
];

describe("API v2 refuses", () => {
  it.each(refused)("%s: %s", async (_rule, expected, call) => {
    const answer = await server.call(...call);

    expect(`${answer.status} ${errorBodySchema.strict().parse(answer.json).code}`).toBe(expected);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("two keys, though both are valid", async () => {
    const line = `X-API-KEY: ${platformKeys.acme}\r\n`;
    const port = Number(new URL(server.baseUrl).port);

    const answer = await sendRaw(
      port,
      `GET /api/v2${reports} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${line}${line}\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("with one issue per problem", async () => {
    const answer = await server.call("POST", spike, {
      body: { windowHours: 0.5, baselineDays: "7", minSpikeCount: 2 ** 53 },
    });

    expect(errorBodySchema.parse(answer.json).issues).toHaveLength(4);
  });

  it("a bad path and a body that is no JSON together", async () => {
    const answer = await server.call("POST", "/organization/proposals/x/review", { body: "{" });

    expect(errorBodySchema.parse(answer.json).issues?.map(({ message }) => message)).toEqual([
      "proposalId: must be a positive integer",
      "the body is not JSON",
    ]);
  });
});

describe("API v2 answers", () => {
  it("a healthcheck with the API's default thresholds", async () => {
    const answer = await server.call("POST", spike, { body: { slug: "acme", more: "ignored" } });

    expect(answer.status).toBe(200);
    expect(servedHealthcheckSchema.parse(answer.json).threshold).toMatchObject({ windowHours: 24, minSpikeCount: 10 });
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "json", ""])(
    "a body that is JSON, whatever its type: %j",
    async (type) => {
      const body = { slug: "acme" };

      const answer = await server.call("POST", spike, { body, headers: { "content-type": type } });

      expect(answer.status).toBe(200);
    },
  );

  it("a body with a byte order mark, and with unknown keys, however long", async () => {
    const body = `\ufeff${JSON.stringify({ slug: "acme", more: "x".repeat(20_000) })}`;

    expect((await server.call("POST", spike, { body })).status).toBe(200);
  });

  it("a page of reports, to HEAD without its body", async () => {
    const got = await server.call("GET", `${reports}?limit=2`);
    const headed = await server.call("HEAD", `${reports}?limit=2`);

    expect(reportRecordsPageSchema.strict().parse(got.json).reports).toHaveLength(2);
    expect([headed.status, headed.text]).toEqual([200, ""]);
    expect(headed.headers.get("content-length")).toBe(String(Buffer.byteLength(got.text)));
  });

  it("its own description", async () => {
    const answer = await server.call("GET", "/openapi.json");

    expect(answer.json).toMatchObject({ openapi: "3.1.1", info: { version: "2.0.0" } });
  });
});

describe("a failure inside", () => {
  const failures: readonly (readonly [string, Error, number, string | null])[] = [
    ["a bug", new TypeError("secret inside"), 500, null],
    ["a broken store", new FlatlineError("store_unusable", "secret inside"), 500, "1"],
    ["a busy store", new FlatlineError("store_busy", "secret inside"), 500, "1"],
    ["a used up budget", new FlatlineError("api_rate_limited", "later", { retryAfterMs: 1_001 }), 429, "2"],
  ];

  it.each(failures)("%s tells nothing of it", async (_rule, error, status, retryAfter) => {
    const fails = (): Promise<never> => Promise.reject(error);
    const broken = await startPlatformServer({
      apiFor: () => ({ deadAssetSpike: fails, listReports: fails, reviewProposal: fails }),
    });

    const answer = await broken.call(...rejection(301));
    await broken.close();

    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, retryAfter]);
    expect(errorBodySchema.strict().safeParse(answer.json).success).toBe(true);
    expect(answer.text).not.toContain("secret");
    expect(broken.world.logged.map(({ message }) => message)).toEqual(
      status === 500 && retryAfter === null ? ["a request to the API failed"] : [],
    );
  });

  it("of the authentication is 500 with the error body", async () => {
    const broken = await startPlatformServer({ authenticate: () => Promise.reject(new Error("secret inside")) });

    const answers = await Promise.all([broken.call("GET", reports), broken.call("GET", "/nowhere")]);
    await broken.close();

    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [500, '{"message":"internal error","code":"INTERNAL_SERVER_ERROR"}'],
      [500, '{"message":"internal error","code":"INTERNAL_SERVER_ERROR"}'],
    ]);
  });
});

it("a body beside others that take all memory there is for them is 503 with Retry-After", async () => {
  const bodies = createByteBudget(1_000);
  const busy = await startPlatformServer({ bodies });
  const others = bodies.open();
  others.hold(990);

  const refused = await busy.call("POST", spike, { body: { slug: "acme" } });
  others.release();
  const taken = await busy.call("POST", spike, { body: { slug: "acme" } });
  await busy.close();

  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(errorBodySchema.strict().parse(refused.json).code).toBe("INTERNAL_SERVER_ERROR");
  expect(taken.status).toBe(200);
  // The answer released the memory.
  bodies.open().hold(1_000);
});

describe("requests", () => {
  it("are counted by operation and status, refused ones too", async () => {
    const counting = await startPlatformServer();

    await counting.call("POST", spike, { body: { slug: "acme" } });
    await counting.call("GET", reports, { key: null });
    await counting.call(...rejection(301, { assetId: 1 }));
    await counting.call("GET", "/nowhere");
    await counting.close();

    expect(counting.counted).toEqual(["dead_asset_spike 200", "list_reports 401", "review_proposal 409", "other 404"]);
  });

  it("show their key in no answer, log or count", async () => {
    const shown = await startPlatformServer();
    const secrets = [...Object.values(platformKeys), "an-unknown-key-of-somebody"];

    const answers: unknown[] = [];
    for (const key of secrets)
      answers.push(
        await shown.call("GET", `${reports}?slug=acme`, { key }),
        await shown.call("GET", `/${key}`, { key }),
        await shown.call("POST", review, { key, body: { slug: key } }),
        await shown.call("POST", review, { key, body: `{"${key}` }),
      );
    await shown.close();

    const seen = JSON.stringify([answers, shown.world.logged, shown.counted]);
    expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  });
});

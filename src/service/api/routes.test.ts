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

/** `call`: method, path, then body and key. */
interface Refused {
  readonly rule: string;
  readonly call: Parameters<PlatformServer["call"]>;
  readonly status: number;
  readonly code: string;
}

const refused: readonly Refused[] = [
  { rule: "no key", call: ["GET", reports, { key: null }], status: 401, code: "UNAUTHORIZED" },
  { rule: "an unknown key", call: ["GET", reports, { key: "nobody" }], status: 401, code: "UNAUTHORIZED" },
  {
    rule: "a key in another case",
    call: ["GET", reports, { key: platformKeys.acme.toUpperCase() }],
    status: 401,
    code: "UNAUTHORIZED",
  },
  {
    rule: "no key for the description",
    call: ["GET", "/openapi.json", { key: null }],
    status: 401,
    code: "UNAUTHORIZED",
  },
  { rule: "no key for no path", call: ["GET", "/nowhere", { key: null }], status: 401, code: "UNAUTHORIZED" },
  {
    rule: "no key for a path that cannot be decoded",
    call: ["GET", "/%zz", { key: null }],
    status: 401,
    code: "UNAUTHORIZED",
  },
  { rule: "no key for an odd method", call: ["PROPFIND", reports, { key: null }], status: 401, code: "UNAUTHORIZED" },
  { rule: "no key before the method", call: ["DELETE", reports, { key: null }], status: 401, code: "UNAUTHORIZED" },
  {
    rule: "no key before the body",
    call: ["POST", spike, { key: null, body: "{" }],
    status: 401,
    code: "UNAUTHORIZED",
  },
  {
    rule: "no key before the size of the body",
    call: ["POST", spike, { key: null, body: "x".repeat(1_100_000) }],
    status: 401,
    code: "UNAUTHORIZED",
  },
  { rule: "no such path", call: ["GET", "/nowhere"], status: 404, code: "NOT_FOUND" },
  { rule: "a path that cannot be decoded", call: ["GET", "/%zz"], status: 404, code: "NOT_FOUND" },
  {
    rule: "a proposal id that cannot be decoded",
    call: ["POST", "/organization/proposals/%ff/review", { body: {} }],
    status: 400,
    code: "BAD_REQUEST",
  },
  { rule: "GET of the healthcheck", call: ["GET", spike], status: 404, code: "NOT_FOUND" },
  { rule: "POST of the listing", call: ["POST", reports, { body: {} }], status: 404, code: "NOT_FOUND" },
  { rule: "an odd method", call: ["PROPFIND", reports], status: 404, code: "NOT_FOUND" },
  {
    rule: "a body that is too large",
    call: ["POST", spike, { body: "x".repeat(1_100_000) }],
    status: 413,
    code: "BAD_REQUEST",
  },
  { rule: "a body that is no JSON", call: ["POST", spike, { body: "{" }], status: 400, code: "BAD_REQUEST" },
  {
    rule: "a body that is no UTF-8",
    call: ["POST", spike, { body: Buffer.from([0x22, 0xff, 0x22]) }],
    status: 400,
    code: "BAD_REQUEST",
  },
  { rule: "no body", call: ["POST", spike], status: 400, code: "BAD_REQUEST" },
  {
    rule: "a bad threshold before the slug",
    call: ["POST", spike, { body: { slug: "globex", windowHours: "24" } }],
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    rule: "a bad limit before the slug",
    call: ["GET", `${reports}?slug=globex&limit=101`],
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    rule: "a REJECT without a reason before the slug",
    call: [
      "POST",
      "/organization/proposals/301/review",
      { body: { slug: "globex", assetId: 501, decision: "REJECT" } },
    ],
    status: 400,
    code: "BAD_REQUEST",
  },
  { rule: "a repeated parameter", call: ["GET", `${reports}?limit=5&limit=5`], status: 400, code: "BAD_REQUEST" },
  { rule: "__proto__ as a parameter", call: ["GET", `${reports}?__proto__=x`], status: 400, code: "BAD_REQUEST" },
];

describe("API v2 refuses", () => {
  it.each(refused)("$rule: $status $code", async ({ call, status, code }) => {
    const answer = await server.call(...call);

    expect([answer.status, errorBodySchema.strict().parse(answer.json).code]).toEqual([status, code]);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
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

  it.each<[string, string | Uint8Array, number]>([
    ["a byte order mark before the JSON", `\ufeff${JSON.stringify({ slug: "acme" })}`, 200],
    ["unknown keys, however long", JSON.stringify({ slug: "acme", more: "x".repeat(20_000) }), 200],
    ["no UTF-8", new Uint8Array([0xff, 0x22]), 400],
  ])("a healthcheck's body with %s", async (_rule, body, status) => {
    const answer = await server.call("POST", spike, { body });

    expect(answer.status).toBe(status);
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

  it("a key at once after it was made, and no more after it was revoked", async () => {
    const { keys } = server.store.platform;
    const [key] = await keys.list();
    const before = await server.call("GET", reports, { key: platformKeys.acme });
    await keys.revoke(key?.id ?? "", 1);
    const after = await Promise.all(
      Object.values(platformKeys).map((name) => server.call("GET", `${reports}?slug=acme`, { key: name })),
    );

    expect(before.status).toBe(200);
    expect(after.filter(({ status }) => status === 401)).toHaveLength(2);
  });
});

describe("a failure inside", () => {
  const failures = [
    { rule: "a bug", error: new TypeError("secret inside"), status: 500, retryAfter: null },
    {
      rule: "a broken store",
      error: new FlatlineError("store_unusable", "secret inside"),
      status: 500,
      retryAfter: "1",
    },
    { rule: "a busy store", error: new FlatlineError("store_busy", "secret inside"), status: 500, retryAfter: "1" },
    {
      rule: "a used up budget",
      error: new FlatlineError("api_rate_limited", "later", { retryAfterMs: 1_001 }),
      status: 429,
      retryAfter: "2",
    },
  ];

  it.each(failures)("$rule is $status and tells nothing of it", async ({ error, status, retryAfter }) => {
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

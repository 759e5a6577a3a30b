import { describedApi } from "../../support/far-side/described-api.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { errorBodySchema } from "../../../src/contract/error-body.ts";
import { reviewRecordSchema } from "../../../src/contract/report-record.ts";
import { dayMs } from "../../../src/base/time.ts";
import {
  platformKeys,
  platformNowMs,
  rejection,
  startPlatformServer,
  type CallAnswer,
  type CallRequest,
  type PlatformServer,
} from "../../support/far-side/platform-server.ts";

/** A review over HTTP: of which proposal, with what body, by which key. */
function reviewing(
  server: PlatformServer,
  proposalId: number | string,
  body: CallRequest["body"],
  key: string | null = platformKeys.acme,
): Promise<CallAnswer> {
  return server.call("POST", `/organization/proposals/${proposalId}/review`, {
    key,
    ...(body === undefined ? {} : { body }),
  });
}

const reject = (assetId: number, more: object = {}): object => ({
  assetId,
  decision: "REJECT",
  rejectReason: "irrelevant",
  ...more,
});
const approve = (assetId: number, more: object = {}): object => ({
  assetId,
  decision: "APPROVE",
  label: "General Phishing",
  ...more,
});
const watchlist = (assetId: number, more: object = {}): object => ({
  assetId,
  decision: "WATCHLIST",
  watchlistReason: "PARKING",
  ...more,
});

interface Row {
  readonly rule: string;
  readonly proposal: number | string;
  readonly body: CallRequest["body"];
  readonly key?: string | null;
  readonly status: number;
  /** What the message has in it. */
  readonly says?: RegExp;
}

/** Every row of the error behaviour (CONTRACT 9), by the number of its check. */
const rows: readonly Row[] = [
  { rule: "1: no key", proposal: 301, body: reject(501), key: null, status: 401 },
  { rule: "2: a path that is no number", proposal: "x", body: reject(501), status: 400 },
  { rule: "2: no asset", proposal: 301, body: { decision: "REJECT", rejectReason: "irrelevant" }, status: 400 },
  {
    rule: "3: several organizations and no slug",
    proposal: 301,
    body: reject(501),
    key: platformKeys.both,
    status: 400,
  },
  { rule: "3: a slug out of reach", proposal: 301, body: reject(501, { slug: "globex" }), status: 403 },
  { rule: "3: a slug that does not exist", proposal: 301, body: reject(501, { slug: "nobody" }), status: 403 },
  { rule: "4: a staff key", proposal: 301, body: reject(501), key: platformKeys.staff, status: 403 },
  { rule: "5: no such proposal", proposal: 999, body: reject(501), status: 404 },
  { rule: "5: a proposal of another organization", proposal: 401, body: reject(601), status: 404 },
  { rule: "6: reported by the organization itself", proposal: 333, body: reject(533), status: 403 },
  { rule: "7: resolved", proposal: 332, body: reject(532), status: 409 },
  { rule: "8: never in the queue", proposal: 330, body: reject(530), status: 403 },
  { rule: "8: answered by escalating back", proposal: 331, body: reject(531), status: 403 },
  { rule: "9: another asset", proposal: 301, body: reject(502), status: 409 },
  { rule: "10: a brand of another organization", proposal: 301, body: approve(501, { brandId: 8 }), status: 400 },
  { rule: "11: WATCHLIST of a blockchain address", proposal: 334, body: watchlist(534), status: 400 },
  { rule: "12: APPROVE of an allowed asset", proposal: 335, body: approve(535), status: 403 },
  { rule: "12: APPROVE of a subdomain of a legitimate domain", proposal: 336, body: approve(536), status: 403 },
  { rule: "12: APPROVE of what a pattern protects", proposal: 337, body: approve(537), status: 403 },
];

describe("a review by API is refused", () => {
  let server: PlatformServer;
  beforeAll(async () => {
    server = await startPlatformServer();
  });
  afterAll(async () => {
    await server.close();
  });

  it.each(rows)("$rule: $status", async ({ proposal, body, key, status, says = /./ }) => {
    const answer = await reviewing(server, proposal, body, key);

    const refusal = errorBodySchema.strict().parse(answer.json);
    expect([answer.status, refusal.message]).toEqual([status, expect.stringMatching(says)]);
    expect(refusal.issues === undefined).toBe(status !== 400);
  });

  it("and nothing of it is kept", async () => {
    const queue = await server.call("GET", "/organization/reports?needsCustomerReview=true&limit=100");

    expect((queue.json as { reports: unknown[] }).reports).toHaveLength(24);
  });
});

describe("a review by API", () => {
  it("answers what it did", async () => {
    const server = await startPlatformServer();

    const approved = await reviewing(
      server,
      301,
      approve(501, { label: "Brand Impersonation", brandId: 7, note: "seen" }),
    );
    const watched = await reviewing(server, 302, watchlist(502, { label: 5, rejectReason: "no" }));
    await server.close();

    expect(reviewRecordSchema.strict().parse(approved.json)).toMatchObject({
      proposal: { id: 301, decision: "APPROVE", needsCustomerReview: false, asset: { id: 501, status: "BLOCKED" } },
      review: { decision: "APPROVE", label: "Brand Impersonation", brandId: 7 },
      watchlisted: false,
    });
    expect(reviewRecordSchema.strict().parse(watched.json)).toMatchObject({
      proposal: { id: 302, decision: "REJECT", needsCustomerReview: false, asset: { id: 502, status: "UNKNOWN" } },
      review: { decision: "REJECT", label: "", brandId: null },
      watchlisted: true,
    });
  });

  it("takes each of the API's labels, two of them with a brand only", async () => {
    const server = await startPlatformServer();
    const { labels, labelsWithBrand } = describedApi.lists;

    const answers: unknown[] = [];
    for (const [index, label] of labels.entries()) {
      const plain = await reviewing(server, 301 + index, approve(501 + index, { label }));
      const isRefused = labelsWithBrand.includes(label);
      const { status, json } = isRefused
        ? await reviewing(server, 301 + index, approve(501 + index, { label, brandId: 7 }))
        : plain;
      answers.push([plain.status, status, (json as { review?: { label: string } }).review?.label]);
    }
    await server.close();

    expect(answers).toEqual(labels.map((label) => [labelsWithBrand.includes(label) ? 400 : 200, 200, label]));
  });

  it("is possible again when Retry-After has passed, and not a moment earlier", async () => {
    let nowMs = platformNowMs;
    const server = await startPlatformServer({ nowMs: () => nowMs });
    for (let id = 301; id <= 310; id++) await server.call(...rejection(id));
    nowMs += 1_500;

    const spent = await server.call(...rejection(311));
    nowMs = platformNowMs + dayMs - 1;
    const stillSpent = await server.call(...rejection(311));
    nowMs = platformNowMs + 1_500 + Number(spent.headers.get("retry-after")) * 1_000;
    const possible = await server.call(...rejection(311));
    await server.close();

    expect([spent.status, spent.headers.get("retry-after")]).toEqual([429, String(dayMs / 1_000 - 1)]);
    expect([stillSpent.status, stillSpent.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(possible.status).toBe(200);
  });
});

describe("keys", () => {
  it("stand in no answer, log or count", async () => {
    const server = await startPlatformServer();
    const secrets = [...Object.values(platformKeys), "an-unknown-key-of-somebody"];

    const answers: CallAnswer[] = [];
    for (const key of secrets) {
      answers.push(await server.call("GET", "/organization/reports?slug=acme", { key }));
      answers.push(await server.call("GET", `/${key}`, { key }));
      answers.push(await reviewing(server, 301, { slug: key }, key));
      answers.push(await reviewing(server, 301, `{"${key}`, key));
    }
    await server.close();

    const seen = JSON.stringify([answers.map(({ text }) => text), server.world.logged, server.counted]);
    expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  });
});

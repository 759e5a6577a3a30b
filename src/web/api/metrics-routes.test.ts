import { request } from "undici";
import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../test/support/check-reports.ts";
import { parseExposition, seriesValue } from "../../../test/support/exposition-parser.ts";
import { useWebs } from "../../../test/support/web-harness.ts";

const start = useWebs();

describe("GET /metrics", () => {
  it.each([
    { acceptEncoding: "gzip", encoding: "gzip" },
    { acceptEncoding: "deflate, gzip;q=0.5", encoding: "gzip" },
    { acceptEncoding: "gzip;q=0", encoding: undefined },
    { acceptEncoding: "identity", encoding: undefined },
  ])("is sent as $encoding to who accepts $acceptEncoding", async ({ acceptEncoding, encoding }) => {
    const { url, world } = await start();
    world.exposition += "# filler\n".repeat(1_000);

    const answer = await request(`${url}/metrics`, { headers: { "accept-encoding": acceptEncoding } });
    await answer.body.dump();

    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(await (await fetch(`${url}/metrics`)).text()).toBe(world.exposition);
  });
});

describe("GET /probe", () => {
  async function probe(
    url: string,
    query: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: string }> {
    const answer = await fetch(`${url}/probe${query}`, { headers });
    return { status: answer.status, body: await answer.text() };
  }

  it("runs the check now and answers with its series only", async () => {
    const { url, world } = await start();
    world.probe = async () => resultReport({ severity: "warn" });

    const { status, body } = await probe(url, "?slug=acme");

    const families = parseExposition(body);
    expect(status).toBe(200);
    expect(world.probed).toEqual([{ check: "dead-asset-spike", slug: "acme", timeoutMs: 120_000 }]);
    expect([...families.keys()].every((name) => name.startsWith("flatline_check_"))).toBe(true);
    expect(seriesValue(families, "flatline_check_severity", { slug: "acme", severity: "warn" })).toBe(1);
    expect(families.has("flatline_check_runs_total")).toBe(false);
  });

  it("is 200 with up 0 when the check fails", async () => {
    const { url, world } = await start();
    world.probe = async () => errorReport();

    const { status, body } = await probe(url, "?slug=acme&check=dead-asset-spike");

    expect(status).toBe(200);
    expect(seriesValue(parseExposition(body), "flatline_check_up")).toBe(0);
  });

  it.each([
    { query: "", status: 400 },
    { query: "?slug=", status: 400 },
    { query: "?check=dead-asset-spike", status: 400 },
    { query: "?slug=acme&slug=globex", status: 400 },
    { query: "?slug=acme&check=a&check=b", status: 400 },
    { query: "?slug=nope", status: 404, message: 'no check dead-asset-spike is configured for "nope"' },
    { query: "?slug=acme&check=nope", status: 404, message: 'there is no check "nope": dead-asset-spike, ' },
    { query: "?slug=acme&check=", status: 404, message: 'there is no check "": ' },
    { query: "?slug=acme&check=review-queue", status: 404, message: 'review-queue is configured for "acme"' },
    { query: "?slug=acme&check=sentinal", status: 404, message: 'did you mean "sentinel"?' },
    { query: "?slug=acme&check=__proto__", status: 404 },
  ])("of $query is $status", async ({ query, status, message = "" }) => {
    const { url } = await start();

    const answer = await probe(url, query);

    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({
      code: status === 400 ? "BAD_REQUEST" : "NOT_FOUND",
      message: expect.stringContaining(message),
    });
  });

  it.each([
    { header: "10", timeoutMs: 9_500 },
    { header: "1.5", timeoutMs: 1_000 },
    { header: "1", timeoutMs: 500 },
    { header: "0.4", timeoutMs: 200 },
    { header: "10000", timeoutMs: 120_000 },
  ])("with a scrape timeout of $header s is bounded to $timeoutMs ms", async ({ header, timeoutMs }) => {
    const { url, world } = await start();

    await probe(url, "?slug=acme", { "x-prometheus-scrape-timeout-seconds": header });

    expect(world.probed[0]?.timeoutMs).toBeCloseTo(timeoutMs);
  });

  it.each(["abc", "-1", "0", "", "Infinity"])("with a scrape timeout of %j is 400", async (header) => {
    const { url } = await start();

    const { status } = await probe(url, "?slug=acme", { "x-prometheus-scrape-timeout-seconds": header });

    expect(status).toBe(400);
  });
});

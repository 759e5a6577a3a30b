import { expect, it } from "vitest";

import { sampleHealthcheck } from "../../test/support/far-side/api-samples.ts";
import { errorOf, clientBench } from "../../test/support/client-bench.ts";

const bench = clientBench();
const request = {
  path: "reviewing/backlog",
  slug: "acme",
  parameters: { warnThreshold: 50, region: "eu", open: true },
};

it("asks for a healthcheck by its path, with the parameters and the slug", async () => {
  const body = sampleHealthcheck({ id: "backlog", category: "reviewing", severity: "warn", observed: { open: 61 } });
  bench.upstream.script({ kind: "answer", body });

  const result = await bench.client.healthcheck(request);

  const [sent] = bench.upstream.requests;
  expect([sent?.method, sent?.path]).toEqual(["POST", "/api/v2/healthchecks/reviewing/backlog"]);
  expect(JSON.parse(sent?.body ?? "")).toEqual({ slug: "acme", warnThreshold: 50, region: "eu", open: true });
  expect(result).toMatchObject({ id: "backlog", category: "reviewing", severity: "warn", observed: { open: 61 } });
  expect(bench.events).toEqual([{ operation: "healthcheck", code: "200" }]);
});

it("sends the organization's slug, whatever the parameters say", async () => {
  bench.upstream.script({ kind: "answer", body: sampleHealthcheck() });

  await bench.client.healthcheck({ ...request, parameters: { slug: "globex" } });

  expect(JSON.parse(bench.upstream.requests[0]?.body ?? "")).toEqual({ slug: "acme" });
});

it("keeps the first keys of a large map by name: no key is one of the counts", async () => {
  const observed = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`k${100 + index}`, index]));
  bench.upstream.script({
    kind: "answer",
    body: sampleHealthcheck({ observed: { currentCount: 1, zed: 2, ...observed } }),
  });

  const result = await bench.create({ observedKeys: ["zed"] }).healthcheck(request);

  expect(Object.keys(result.observed)).toHaveLength(64);
  expect(result.observed).not.toHaveProperty("zed");
});

it("is tried again like the other readings, and says what a 404 means", async () => {
  bench.upstream.script({ kind: "reset" }, { kind: "answer", status: 404, body: { message: "no", code: "NOT_FOUND" } });

  const error = await errorOf(bench.client.healthcheck(request));

  expect(error).toMatchObject({
    code: "api_not_found",
    message: 'the service answered 404: "no"; the platform has no healthcheck at this path: check path in healthchecks',
  });
});

it.each(["", "/a", "a//b", "../organization/reports", "a/b/c/d/e", "A", "a?b", "a%2fb"])(
  "sends nothing to the path %j",
  async (path) => {
    expect(await errorOf(bench.client.healthcheck({ ...request, path }))).toMatchObject({ code: "usage" });
  },
);

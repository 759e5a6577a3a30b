import { createServer, request as sendOn, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { sampleHealthcheck, sampleSpikeRequest } from "../../test/support/far-side/api-samples.ts";
import { errorOf, openClientBench, type ClientBench } from "../../test/support/client-bench.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { Secret } from "../base/secret.ts";
import { createPlatformSource } from "./platform-source.ts";

let bench: ClientBench;

beforeEach(async () => {
  bench = await openClientBench();
});

afterEach(async () => {
  await bench.close();
});

function openSource(apiKey: string | null, keys: Readonly<Record<string, string>> = {}) {
  return createPlatformSource({
    baseUrl: bench.upstream.baseUrl,
    apiKey: apiKey === null ? null : new Secret(apiKey),
    apiKeyOf: (slug) => (keys[slug] === undefined ? null : new Secret(keys[slug])),
    dispatcher: bench.dispatcher,
    clock: bench.clock,
    random: () => 0,
  });
}

function okFor(slug: string): { kind: "answer"; body: unknown } {
  return { kind: "answer", body: sampleHealthcheck({ scope: { slug } }) };
}

describe("a source", () => {
  it("asks with the organization's own key, else with the common one", async () => {
    bench.upstream.script(okFor("acme"), okFor("globex"));
    const source = openSource("common-key", { globex: "globex-key" });

    await source.forOrganization("acme").deadAssetSpike(sampleSpikeRequest("acme"));
    await source.forOrganization("globex").deadAssetSpike(sampleSpikeRequest("globex"));

    expect(bench.upstream.requests.map((request) => request.headers["x-api-key"])).toEqual([
      "common-key",
      "globex-key",
    ]);
  });

  it("says which organization has no key", () => {
    const source = openSource(null, { globex: "globex-key" });

    expect(() => source.forOrganization("acme")).toThrow(
      expect.objectContaining({ code: "invalid_config", message: expect.stringContaining("acme") as string }),
    );
  });

  it("pauses all organizations of a key, and no others", async () => {
    bench.upstream.script({ kind: "answer", status: 429, headers: { "retry-after": "60" } }, okFor("globex"));
    const source = openSource("common-key", { globex: "globex-key", initech: "common-key" });
    await errorOf(source.forOrganization("acme").deadAssetSpike(sampleSpikeRequest("acme")));

    const paused = await errorOf(source.forOrganization("initech").deadAssetSpike(sampleSpikeRequest("initech")));
    const free = await source.forOrganization("globex").deadAssetSpike(sampleSpikeRequest("globex"));

    expect(paused.code).toBe("api_rate_limited");
    expect(free.severity).toBe("ok");
  });
});

describe("a proxy", () => {
  let proxy: Server;
  const seen: string[] = [];

  beforeEach(async () => {
    seen.length = 0;
    proxy = createServer((incoming, outgoing) => {
      seen.push(incoming.url ?? "");
      const onward = sendOn(incoming.url ?? "", { method: incoming.method, headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });

  afterEach(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });

  it("of the environment carries the requests", async () => {
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const dispatcher = createHttpDispatcher({ env: { HTTP_PROXY: proxyUrl } });
    bench.upstream.script(okFor("acme"));

    const result = await bench.create({ dispatcher }).deadAssetSpike(sampleSpikeRequest("acme"));
    await dispatcher.destroy();

    expect(result.severity).toBe("ok");
    expect(seen).toEqual([`${bench.upstream.baseUrl}/healthchecks/assets/dead-asset-spike`]);
  });
});

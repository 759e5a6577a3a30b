import { describe, expect, it } from "vitest";

import { sampleHealthcheck, sampleSpikeRequest } from "../../test/support/far-side/api-samples.ts";
import { errorOf, clientBench } from "../../test/support/client-bench.ts";
import { Secret } from "../base/secret.ts";
import { createPlatformSource } from "./platform-source.ts";

const bench = clientBench();

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

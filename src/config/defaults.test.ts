import { describe, expect, it } from "vitest";

import { organizationOf, useConfigFolder } from "../../test/support/config-folder.ts";

const { folder, load } = useConfigFolder();

const remote = `source: { baseUrl: "https://api.example.com/v2", apiKey: key }\n`;
const embedded = "source: { type: embedded }\n";

describe("defaults", () => {
  it("are CONTRACT 4's where nothing is said", async () => {
    const config = await load(`${remote}organizations: [acme]\n`);

    const text = JSON.stringify(config, null, 2).replaceAll(folder(), "FOLDER");
    await expect(`${text}\n`).toMatchFileSnapshot("./testdata/defaults.json");
  });

  it("of a table are all but where it is and what it holds", async () => {
    const { source } = await load(
      "source: { type: postgres, url: postgres://db/platform, table: e, columns: { slug: s, at: t, status: u } }\n" +
        "organizations: [a]\n",
    );

    expect(source).toMatchObject({
      events: {
        kind: "table",
        columns: { slug: "s", at: "t", assetType: null, status: "u", count: null },
        deadStatuses: ["DETECTED_AS_DEAD"],
      },
      timeUnit: "timestamp",
      timeoutMs: 30_000,
      concurrency: 10_000,
    });
  });

  it("fill in what an organization does not say, field by field", async () => {
    const config = await load(`${embedded}
defaults:
  schedule: "@hourly"
  timezone: Europe/Berlin
  jitter: 30s
  thresholds: { failMultiplier: 5, minSpikeCount: 20 }
  labels: { team: trust, tier: gold }
  alert: { for: 10m, unknownAfter: 5 }
  reviewQueue: { enabled: true, warnAfter: 2h }
  receivers: [ops]
organizations:
  - acme
  - slug: globex
    timezone: UTC
    thresholds: { failMultiplier: 6 }
    labels: { tier: silver }
    alert: { for: 0s }
    reviewQueue: { schedule: "*/20 * * * *" }
    receivers: [console]
receivers:
  - { name: ops, type: log }
  - { name: console, type: log }
`);

    expect(organizationOf(config, "acme")).toMatchObject({
      schedule: "@hourly",
      timezone: "Europe/Berlin",
      jitterMs: 30_000,
      thresholds: { windowHours: 24, failMultiplier: 5, minSpikeCount: 20 },
      labels: { team: "trust", tier: "gold" },
      receivers: [{ name: "ops", afterMs: 0 }],
    });
    expect(organizationOf(config, "globex")).toMatchObject({
      schedule: "@hourly",
      timezone: "UTC",
      thresholds: { windowHours: 24, failMultiplier: 6, minSpikeCount: 20, warnMultiplier: 2 },
      labels: { team: "trust", tier: "silver" },
      alert: { forMs: 0, unknownAfter: 5 },
      reviewQueue: {
        enabled: true,
        warnAfterMs: 7_200_000,
        schedule: "*/20 * * * *",
      },
      receivers: [{ name: "console", afterMs: 0 }],
    });
  });
});

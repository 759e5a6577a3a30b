import { beforeAll, describe, expect, it } from "vitest";

import { useBrowser } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";

const token = "let-me-in";
const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };

const folder = useDaemonFolder();
const browser = useBrowser();

beforeAll(async () => {
  const many = Array.from({ length: 1_994 }, (_, index) => `  - plain-${String(index).padStart(4, "0")}`);
  await folder.configure(`
source: { type: embedded, concurrency: 64 }
defaults: { schedule: "0 0 1 1 *", thresholds: { minSpikeCount: 20 } }
organizations:
  - slug: acme
    thresholds: { warnMultiplier: 3 }
    alert: { for: 10m }
  - slug: queued
    jitter: 30s
    alert: { minBaselineCoverage: 0.5 }
    reviewQueue: { enabled: true, warnAfter: 1h }
    regret: {}
    gate: { releaseOn: [judged, resolved] }
${many.join("\n")}
server: { listen: "${folder.listen}", token: "${token}" }
`);
  await folder.start();
});

describe("the page of the configuration", () => {
  it("is the effective configuration as YAML, without a secret", async () => {
    const page = await browser.open(`${folder.url}/config`, authorized);

    const text = await page.locator(".yaml").innerText();
    for (const line of ["concurrency: 64", "failMultiplier: 4", "warnAfter: 1h", 'token: "***"'])
      expect(text).toContain(line);
    expect(await page.content()).not.toContain(token);
  });

  it("shows the first of many organizations, and says how many more there are", async () => {
    const page = await browser.open(`${folder.url}/config`, authorized);

    expect(await page.locator("#main").innerText()).toMatch(/1,976 organizations more: flatline config show has all/);
  });

  it("is read again at the press of a button, without scripts too", async () => {
    const page = await browser.open(`${folder.url}/config`, { ...authorized, javaScriptEnabled: false });

    await page.getByRole("button", { name: "Reload" }).click();

    expect(await page.locator("#did").innerText()).toBe("Reloaded.");
    expect(await page.locator("#main").innerText()).toContain("The last reload was ok.");
  });
});

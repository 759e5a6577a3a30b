import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { dayMs, minuteMs } from "../../../src/base/time.ts";
import { axeViolations, startBrowser, type TestBrowser } from "../../support/browser.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";
import { isLong } from "../../support/tier.ts";

const timeout = 5 * minuteMs;
const token = "let-me-in";
const authorized = { extraHTTPHeaders: { authorization: `Bearer ${token}` } };
// One in twenty spikes: enough for every group of the list, and too few for a fleet verdict.
const spikesEach = 20;

type Look = readonly [colorScheme: "light" | "dark", width: number];

const looks: readonly Look[] = [
  ["light", 1_440],
  ["dark", 390],
  ["dark", 1_440],
  ["light", 390],
];

/** Five are what the other tests of pages have, and ten thousand take a minute to check. */
const sizes: readonly (readonly [count: number, looks: readonly Look[]])[] = isLong
  ? [0, 5, 2_000, 10_000].map((count) => [count, looks])
  : [
      [0, looks.slice(1, 2)],
      [2_000, looks.slice(0, 1)],
    ];

let browser: TestBrowser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
});

describe.each(sizes)("%i organizations", (count, looks) => {
  let folder: DaemonFolder;
  let url: string;
  const slugs = Array.from({ length: count }, (_, index) => `organization-${String(index).padStart(5, "0")}`);

  beforeAll(async () => {
    folder = await makeDaemonFolder();
    const nowMs = Date.now();
    const death = { assetType: "URL", asset: null, status: "DETECTED_AS_DEAD", id: null };
    await folder.withStore((store) =>
      store.transaction(({ events }) =>
        events.add(
          slugs.flatMap((slug, index) => [
            ...[1, 3, 5].map((day) => ({ ...death, slug, atMs: nowMs - (day + 1) * dayMs, count: 8 })),
            { ...death, slug, atMs: nowMs - minuteMs, count: index % spikesEach === 0 ? 60 : 2 },
          ]),
        ),
      ),
    );
    const organizations = slugs.map((slug, index) => `{ slug: ${slug}, labels: { team: team-${index % 7} } }`);
    await folder.configure(`
source: { type: embedded, concurrency: 64 }
defaults: { schedule: "0 0 1 1 *" }
organizations: [${organizations.join(", ")}]
alerting: { groupWait: 100ms }
receivers: [{ name: ops, type: log }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
    url = (await folder.start()).address()?.url ?? "";
    const firing = Math.ceil(count / spikesEach);
    await eventually(async () => {
      const response = await fetch(`${url}/api/v1/alerts`, { headers: authorized.extraHTTPHeaders });
      const { alerts } = (await response.json()) as { alerts: readonly unknown[] };
      return alerts.length === firing;
    }, timeout);
  }, timeout);

  afterAll(async () => {
    await folder?.close();
  });

  it.each(looks)(
    "every screen has no violation, no error and nothing that scrolls sideways: %s, %i px",
    { timeout },
    async (colorScheme, width) => {
      const screens = [
        "/",
        "/incidents",
        ...(count === 0 ? [] : ["/incidents/1"]),
        ...slugs.slice(0, 1).map((slug) => `/o/${slug}`),
        "/silences",
        "/receivers",
        "/queue",
        "/config",
      ];

      for (const path of screens) {
        const options = { ...authorized, colorScheme, viewport: { width, height: 900 } };
        const page = await browser.open(url + path, options);
        expect([path, await axeViolations(page)]).toEqual([path, []]);
        expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, width]);
        await page.close();
      }
      expect(browser.complaints).toEqual([]);
    },
  );
});

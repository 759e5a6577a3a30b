// Writes docs/images: the real page over invented events in a real browser. `node scripts/screenshots.ts` after a build.
import { loadConfig } from "../src/config/load.ts";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createApp } from "../src/daemon/create-app.ts";
import { createSilentLogger } from "../src/base/logger.ts";
import { createSystemClock, hourMs, secondMs } from "../src/base/time.ts";
import { startBrowser } from "../test/support/browser.ts";

const images = fileURLToPath(new URL("../docs/images/", import.meta.url));
const clock = createSystemClock();

/** Deaths an hour, and since how many hours the checker of its asset types is broken; 0: it is well. */
const organizations: readonly (readonly [
  slug: string,
  perHour: number,
  brokenHours: number,
  times: number,
  team?: string,
])[] = [
  ["aurora-bank", 700, 9, 17, "fraud"],
  ["northwind-pay", 44, 13, 14, "trust"],
  ["globex", 31, 6, 30],
  ["umbrella", 0.4, 21, 300],
  ["initech", 0.3, 20, 60],
  ["soylent", 0.5, 22, 12],
  ["hooli", 0.6, 17, 10, "trust"],
  ["stark-retail", 4, 4, 24],
  ["wayne-logistics", 39, 15, 4.6],
  ["acme", 117, 2, 26, "trust"],
  ["the-very-long-organization-name-of-somebody", 0.1, 14, 30],
  ["massive-dynamic", 111, 0, 1],
  ["pied-piper", 119, 0, 1],
  ["vandelay", 5, 0, 1],
  ["cyberdyne", 220, 0, 1],
  ["nakatomi", 54, 0, 1],
  ["tyrell-hotels", 2, 0, 1],
  ["wonka", 0.4, 0, 1],
  ["oscorp", 12, 0, 1],
  ["gringotts", 61, 0, 1],
];
const assetTypes = ["URL", "URL", "URL", "PAGE", "TELEGRAM", "FACEBOOK"] as const;
const historyHours = 18 * 24;

/** The same pictures each time: a small generator (mulberry32) in the place of chance. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function writeEvents(nowMs: number): string {
  const random = createRandom(7);
  const lines = ["at,slug,assetType,count"];
  for (const [slug, perHour, brokenHours, times] of organizations) {
    for (let ago = historyHours; ago >= 0; ago--) {
      const atMs = nowMs - ago * hourMs - Math.floor(random() * hourMs);
      const wave = 1 + 0.35 * Math.sin((ago / 24) * 2 * Math.PI) + (random() - 0.5) * 0.6;
      const expected = perHour * wave * (ago < brokenHours ? times : 1);
      const count = Math.floor(expected) + (random() < expected % 1 ? 1 : 0);
      const assetType = assetTypes[Math.floor(random() * assetTypes.length)] ?? "URL";
      if (count > 0) lines.push(`${new Date(atMs).toISOString()},${slug},${assetType},${count}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly colorScheme: "light" | "dark";
  readonly height: number;
}

/** Runs the configuration in `folder` and takes pictures of its pages. */
async function takePictures(folder: string, pictures: readonly Picture[]): Promise<void> {
  const load = { path: "flatline.yaml", cwd: folder, env: {} };
  const app = createApp(await loadConfig(load), {
    env: {},
    cwd: folder,
    clock,
    random: Math.random,
    version: "1.0.0",
    nodeVersion: "24.0.0",
    logger: createSilentLogger(),
    readConfig: () => loadConfig(load),
  });
  await app.start();
  // Runs, the evaluated past and the first notifications.
  await clock.sleep(8 * secondMs);
  const url = app.address()?.url ?? "";
  const browser = await startBrowser();
  for (const { name, path, colorScheme, height } of pictures) {
    const page = await browser.open(url + path, { colorScheme, viewport: { width: 1_280, height } });
    await page.locator("#lamp", { hasText: /^live$/ }).waitFor();
    await clock.sleep(secondMs);
    await page.screenshot({ path: join(images, `${name}.png`) });
  }
  await browser.close();
  await app.stop();
}

const folder = await mkdtemp(join(tmpdir(), "flatline-pictures-"));
await mkdir(images, { recursive: true });
await writeFile(join(folder, "events.csv"), writeEvents(clock.nowMs()));
const listed = organizations.map(([slug, , , , team]) =>
  team === undefined ? `  - ${slug}` : `  - { slug: ${slug}, labels: { team: ${team} } }`,
);
const rest = `receivers: [{ name: trust-slack, type: log }, { name: pager, type: log, minSeverity: fail }]
server: { listen: "127.0.0.1:0", token: picture }
`;
await writeFile(
  join(folder, "flatline.yaml"),
  `source: { type: embedded, preload: [{ events: events.csv }] }
organizations:
${listed.join("\n")}
alerting: { groupWait: 1s, fleet: { ratio: 0.4 } }
storage: { path: made-up.db }
${rest}`,
);
await takePictures(folder, [
  { name: "overview-light", path: "/", colorScheme: "light", height: 1_160 },
  { name: "overview-dark", path: "/", colorScheme: "dark", height: 1_160 },
  { name: "incident", path: "/incidents/1", colorScheme: "light", height: 1_900 },
]);

await rm(folder, { recursive: true });

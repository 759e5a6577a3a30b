// Writes docs/images: the incident of `npm start`, in a real browser, light and dark. `npm run screenshots`
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createSystemClock, secondMs } from "../src/base/time.ts";
import { startBrowser } from "../test/support/browser.ts";
import { startDaemon } from "../test/support/program/program.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const clock = createSystemClock();
// The night takes 40 s; the rest is for the last run and its message.
const nightMs = 50 * secondMs;

const folder = await mkdtemp(join(tmpdir(), "flatline-pictures-"));
const example = await readFile(join(root, "config.example.yaml"), "utf8");
await writeFile(
  join(folder, "flatline.yaml"),
  example.replace("127.0.0.1:9640", "127.0.0.1:0").replaceAll("examples/", join(root, "examples/")),
);
const daemon = await startDaemon([], { cwd: folder });
await clock.sleep(nightMs);
const browser = await startBrowser();
for (const colorScheme of ["light", "dark"] as const) {
  const page = await browser.open(`${daemon.url}/incidents/1`, {
    colorScheme,
    viewport: { width: 1_280, height: 1_110 },
  });
  await page.locator("#lamp", { hasText: /^live$/ }).waitFor();
  await clock.sleep(secondMs);
  await page.screenshot({ path: join(root, `docs/images/incident-${colorScheme}.png`) });
}
await browser.close();
await daemon.kill();
await rm(folder, { recursive: true });

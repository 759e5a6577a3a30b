// Writes docs/images: the minute of `npm start`, and its incident in a real browser, light and dark. `npm run screenshots`
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createSystemClock, secondMs } from "../src/base/time.ts";
import { startBrowser } from "../test/support/browser.ts";
import { html } from "../src/web/parts/html.ts";
import { eventually, startProgram } from "../test/support/program/program.ts";

import { animate } from "./apng.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const clock = createSystemClock();
// The night takes 46 s; the rest is for the last run and its message.
const nightMs = 56 * secondMs;
const frameMs = 10 * secondMs;
const shownMs = 2_000;
const width = 820;

const folder = await mkdtemp(join(tmpdir(), "flatline-pictures-"));
const example = await readFile(join(root, "config.example.yaml"), "utf8");
await writeFile(
  join(folder, "flatline.yaml"),
  example.replace("127.0.0.1:9640", "127.0.0.1:0").replaceAll("examples/", join(root, "examples/")),
);
const browser = await startBrowser();
const daemon = startProgram(["run", "--log-format", "pretty"], { cwd: folder });
const url = await eventually(() => /http:\S+/.exec(daemon.stderr())?.[0] ?? null);
await eventually(() => daemon.stderr().includes("checking"));
const overview = await browser.open(url, { viewport: { width, height: 500 } });
const frames: Buffer[] = [];
for (let passedMs = 0; passedMs <= nightMs; passedMs += frameMs) {
  frames.push(await frameOf(daemon.stderr(), await overview.screenshot()));
  await clock.sleep(frameMs);
}
await writeFile(join(root, "docs/images/first-minute.png"), animate(frames.map((png) => ({ png, shownMs }))));
for (const colorScheme of ["light", "dark"] as const) {
  const page = await browser.open(`${url}/incidents/1`, {
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

/** The terminal's last lines over the page, as one picture. */
async function frameOf(log: string, page: Buffer): Promise<Buffer> {
  const lines = log.trimEnd().split("\n").slice(-9).join("\n");
  const sheet = await browser.open("about:blank", { viewport: { width, height: 680 } });
  await sheet.setContent(
    html`<body style="margin:0;background:#fff">
      <pre style="margin:0;padding:10px 16px;height:160px;overflow:hidden;font:13px/17px monospace">
$ npm start
${lines}</pre>
      <img src="data:image/png;base64,${page.toString("base64")}" />
    </body>`.html,
  );
  const picture = await sheet.screenshot();
  await sheet.close();
  return picture;
}

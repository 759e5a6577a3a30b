import { beforeAll, expect, it } from "vitest";

import { fillSignIn, flawsAtAllWidths, useBrowser } from "../../support/browser.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";

const token = "let-me-in";

const folder = useDaemonFolder();
const browser = useBrowser();

beforeAll(async () => {
  await folder.configure(`
defaults: { schedule: "@yearly", whenNoEvents: ok }
organizations: [acme]
server: { listen: "${folder.listen}", token: "${token}", publicRead: false }
`);
  await folder.start();
});

it("fits every width, and keeps what was typed when it is refused", async () => {
  const page = await browser.open(`${folder.url}/incidents/41`);

  expect(await flawsAtAllWidths(page)).toEqual([]);
  await page.locator("[name=name]").fill("x".repeat(64));
  await page.locator("[name=token]").fill("wrong");
  await page.keyboard.press("Enter");
  await page.locator("[name=token][aria-invalid]:focus").waitFor();
  expect(await page.locator("[name=name]").inputValue()).toBe("x".repeat(64));
  expect(await flawsAtAllWidths(page)).toEqual([]);
  // The browser itself reports the 401 that was wanted.
  browser.forgive(0);
});

it("needs no script, lasts beyond the tab when asked to, and says in the foot of the page who it is", async () => {
  const page = await browser.open(`${folder.url}/silences`, { javaScriptEnabled: false });

  expect(await page.locator("[name=remember]").isChecked()).toBe(true);
  await fillSignIn(page, token, "dana");
  await page.waitForURL(`${folder.url}/silences`);
  expect((await page.context().cookies()).map(({ name, expires }) => [name, expires > 0])).toEqual([
    [`flatline_session_${new URL(folder.url).port}`, true],
  ]);
  expect(await page.locator("footer").innerText()).toContain("dana (token)");
  await page.locator("footer button", { hasText: "Sign out" }).click();
  await page.waitForURL(`${folder.url}/sign-in`);

  await page.locator("[name=remember]").uncheck();
  await fillSignIn(page, token, "dana");
  await page.waitForURL(`${folder.url}/`);
  expect((await page.context().cookies()).map(({ expires }) => expires)).toEqual([-1]);
  expect(browser.complaints).toEqual([]);
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";

import { axeViolations, startBrowser, type TestBrowser, signIn } from "../../support/browser.ts";
import { hourMs } from "../../../src/base/time.ts";
import type { StoreParts } from "../../../src/store/store-parts.ts";
import { firingAlert } from "../../support/firing-alert.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const token = "let-me-in";
const bearer = { authorization: `Bearer ${token}` };
const ended = ["over", "tainted", "twice"];
const spiking = ["acme", "eu-bank", "eu-pay", "globex", "initech", "umbrella"];

let browser: TestBrowser;
let folder: DaemonFolder;
let url: string;

interface ListedAlert {
  readonly id: string;
  readonly slug: string;
  readonly acknowledged: boolean;
  readonly judgement: { readonly verdict: string } | null;
}

beforeAll(async () => {
  folder = await makeDaemonFolder();
  for (const slug of spiking) await folder.addDeaths(slug, { lastHour: 60, perDay: 1 });
  for (const slug of ["calm", ...ended]) await folder.addDeaths(slug, { lastHour: 1, perDay: 1 });
  await folder.withStore((store) => store.transaction(addEnded));
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "0 0 1 1 *" }
organizations: [${[...spiking, ...ended].join(", ")}, calm]
alerting: { groupWait: 100ms, groupInterval: 1s, fleet: { ratio: 0.5 } }
receivers: [{ name: ops, type: log }]
server:
  listen: "127.0.0.1:0"
  token: "${token}"
  tokens: [{ name: dana, token: not-for-eu, may: [read, operate], organizations: [acme, globex, initech, umbrella] }]
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => (await listAlerts()).length === spiking.length);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await folder?.close();
});

/** Alerts that are over and still hold gates: against a sound baseline, against one with the incident in it, and two of one gate. */
async function addEnded({ alerts, gate }: StoreParts): Promise<void> {
  const nowMs = Date.now();
  for (const [id, slug, baselineExclusion] of [
    ["ended-1", "over", "applied"],
    ["ended-2", "tainted", "too_much"],
    ["ended-3", "twice", "applied"],
    ["ended-4", "twice", "applied"],
  ] as const) {
    const alert = firingAlert(id, nowMs - 3 * hourMs, { slug });
    await gate.fail(alert, nowMs - 3 * hourMs);
    await alerts.end(alert, { atMs: nowMs - hourMs, isByRun: true, baselineExclusion });
  }
}

async function listAlerts(): Promise<readonly ListedAlert[]> {
  const answer = await fetch(`${url}/api/v1/alerts`, { headers: bearer });
  return ((await answer.json()) as { alerts: readonly ListedAlert[] }).alerts;
}

async function audited(action: string): Promise<readonly { readonly slug: string; readonly actor: string }[]> {
  const answer = await fetch(`${url}/api/v1/audit?limit=1000`, { headers: bearer });
  const { entries } = (await answer.json()) as { entries: { action: string; slug: string; actor: string }[] };
  return entries.filter((entry) => entry.action === action);
}

/** A page of somebody who gave `given` in this tab. */
async function open(path: string, given = token, options = {}): Promise<Page> {
  const page = await browser.open(url + path, options);
  await signIn(page, given);
  return page;
}

const pick = (page: Page, slug: string) => page.getByRole("checkbox", { name: `Select ${slug}`, exact: true });
const spaced = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

describe("a session that ends while a dialog is open", () => {
  it("is said in the dialog, which goes on once another tab has signed in", async () => {
    const page = await open("/alerts");
    const other = await page.context().newPage();
    await other.goto(url);
    await pick(page, "umbrella").check();
    await page.locator("#bulkbar button", { hasText: "Acknowledge…" }).click();
    await other.locator("footer button", { hasText: "Sign out" }).click();
    await other.locator("footer a", { hasText: "Sign in" }).waitFor();
    await page.locator("dialog button.primary").click();
    await page.locator("dialog .problem-line", { hasText: "you are not signed in any more" }).waitFor();

    expect((await listAlerts()).filter(({ acknowledged }) => acknowledged)).toEqual([]);
    await signIn(other, token);
    await page.locator("dialog button.primary").click();
    await page.locator("#did", { hasText: "1 acknowledged." }).waitFor();
    expect((await listAlerts()).filter(({ acknowledged }) => acknowledged).map(({ slug }) => slug)).toEqual([
      "umbrella",
    ]);
    // The browser writes a 401 onto its console.
    browser.forgive(0);
  });
});

describe("alerts that are selected", () => {
  it("are counted in a bar, and acknowledged with one dialog that says whom it means; each is one audit row", async () => {
    const page = await open("/alerts");
    await pick(page, "acme").check();
    await pick(page, "globex").click({ modifiers: ["Shift"] });
    await pick(page, "umbrella").check();
    await page.locator("#bulkbar:not([hidden])").waitFor();

    const slugs = await page.locator("tr.picked .a-alert a").allTextContents();
    expect(slugs).toEqual(["acme", "eu-bank", "eu-pay", "globex", "umbrella"]);
    expect(await page.locator("#picked").textContent()).toBe("5 selected 5 fail");
    expect(await axeViolations(page)).toEqual([]);
    await page.locator("#bulkbar button", { hasText: "Acknowledge…" }).click();
    const dialog = page.locator("dialog");
    expect(await dialog.locator("h2").textContent()).toBe("Acknowledge 4 alerts?");
    expect(spaced(await dialog.innerText())).toContain("You take them, and they go quiet. The gates stay shut.");
    expect(await dialog.locator(".who li").allTextContents()).toEqual([
      "4 that no one has acknowledged",
      "1 acknowledged before: these stay as they are",
    ]);
    expect(await axeViolations(page)).toEqual([]);
    await dialog.locator("[name=comment]").fill("looking at the resolver");
    await dialog.locator("button.primary").click();
    await page.locator("#did", { hasText: "4 acknowledged." }).waitFor();

    expect((await audited("acknowledge")).map(({ slug }) => slug).toSorted()).toEqual(slugs);
    expect(await page.locator("#bulkbar").isHidden()).toBe(true);
    expect(browser.complaints).toEqual([]);
  });

  it("outlive the filter, and are cleared by Escape", async () => {
    const page = await open("/alerts");
    await page.locator("tbody", { hasText: "Acknowledged" }).locator("[data-pick-group]").check();
    await page.locator("#q").fill("acme");
    await page.locator("#picked", { hasText: "4 of them are not shown" }).waitFor();

    await page.locator("h1").click();
    await page.keyboard.press("Escape");
    expect(await page.locator("#bulkbar").isHidden()).toBe(true);
  });

  it("are silenced one by one, with a reason that is needed", async () => {
    const page = await open("/alerts");
    for (const slug of ["acme", "initech"]) await pick(page, slug).check();
    await page.locator("#bulkbar button", { hasText: "Silence…" }).click();
    await page.locator("dialog button.primary").click();
    await page.locator("dialog .problem-line", { hasText: "Write why" }).waitFor();
    await page.locator("dialog [name=comment]").fill("resolver is being rolled back");
    expect(spaced(await page.locator("dialog button.primary").innerText())).toBe("Silence 2 for 4 h");
    await page.locator("dialog button.primary").click();
    await page.locator("#did", { hasText: "2 silenced." }).waitFor();

    expect((await audited("silence.create")).map(({ slug }) => slug).toSorted()).toEqual(["acme", "initech"]);
  });
});

describe("all members of a fleet verdict", () => {
  it("are judged with one dialog; what is not done is said with its reason, and nothing is rolled back", async () => {
    const page = await open("/", "not-for-eu");
    await page.locator("[data-bulk=judge]", { hasText: "Judge 4…" }).click();
    const dialog = page.locator("dialog");
    expect(await dialog.locator("h2").textContent()).toBe("What were these 4 alerts?");
    await dialog.getByText("The checker was wrong").click();
    expect(spaced(await dialog.locator(".consequences").innerText())).toContain(
      "4 organizations stay held; each opens when its alert has ended",
    );
    expect(await axeViolations(page)).toEqual([]);
    // Another one is quicker: it ends under the dialog.
    await folder.withStore(async (store) => {
      const gone = (await store.alerts.allLive()).find(({ slug }) => slug === "globex");
      if (gone !== undefined) await store.alerts.remove(gone.id);
    });
    await dialog.locator("button.primary", { hasText: "Judge 4 alerts" }).click();
    await dialog.locator("b", { hasText: "3 judged, 1 was not." }).waitFor();

    expect(await dialog.locator(".reasons li").allTextContents()).toEqual([expect.stringMatching(/^globex: .+\.$/)]);
    expect(await axeViolations(page)).toEqual([]);
    const judged = (await listAlerts()).filter(({ judgement }) => judgement !== null).map(({ slug }) => slug);
    expect(judged.toSorted()).toEqual(["acme", "initech", "umbrella"]);
    expect((await audited("judgement")).map(({ actor }) => actor)).toEqual(["dana", "dana", "dana"]);
  });
});

describe("gates that are held", () => {
  it("are released with one dialog, which needs a reason and their number", async () => {
    const page = await open("/alerts");
    const heldGates = async (): Promise<string[]> => {
      const { gates } = (await (await fetch(`${url}/api/v1/gate`)).json()) as { gates: { slug: string }[] };
      return gates.map(({ slug }) => slug).toSorted();
    };
    const before = await heldGates();
    for (const slug of ["eu-bank", "eu-pay"]) await pick(page, slug).check();
    await page.locator("#bulkbar button", { hasText: "Release…" }).click();
    const dialog = page.locator("dialog");
    expect(await dialog.locator("h2").textContent()).toBe("Release the deaths of 2 organizations?");
    expect(spaced(await dialog.innerText())).toMatch(
      /120 deaths may be acted on at once\. What takedown pipelines then do/,
    );
    expect(spaced(await dialog.innerText())).toContain("2 alerts of these are not judged.");
    expect(await dialog.locator(".who").first().locator("li").allInnerTexts()).toEqual([
      "eu-bank 60 deaths",
      "eu-pay 60 deaths",
    ]);
    expect(await axeViolations(page)).toEqual([]);

    await dialog.locator("button.primary").click();
    await dialog.locator(".problem-line", { hasText: "Write the reason" }).waitFor();
    await dialog.locator("[name=comment]").fill("opened ten of each, all gone");
    await dialog.locator("[name=count]").fill("3");
    await dialog.locator("button.primary").click();
    await dialog.locator(".problem-line", { hasText: "Type 2, the number of organizations." }).waitFor();
    expect(await heldGates()).toEqual(before);
    await dialog.locator("[name=count]").fill("2");
    await dialog.locator("button.primary", { hasText: "Release 2 organizations" }).click();
    await page.locator("#did", { hasText: "2 released." }).waitFor();

    expect(await heldGates()).toEqual(before.filter((slug) => !slug.startsWith("eu-")));
    expect((await audited("release")).map(({ slug }) => slug).toSorted()).toEqual(["eu-bank", "eu-pay"]);
    await page.goto(url);
    expect(await page.locator(".fleetacts [data-bulk=release]").innerText()).toMatch(/^Release \d…$/);
  });
});

describe("a judgement of alerts that are over", () => {
  it("says which gates it opens and which stay shut, and why, and does just that", async () => {
    const page = await open("/alerts?q=ended");
    for (const slug of ended) await pick(page, slug).first().check();
    await page.locator("#bulkbar button", { hasText: "Judge…" }).click();
    const dialog = page.locator("dialog");
    await dialog.getByText("The checker was wrong").click();
    expect((await dialog.locator(".consequences dd").first().innerText()).split("\n")).toEqual([
      "1 held organization opens at once",
      "1 organization stays held: another alert holds it, too",
      "1 organization stays held until it is released: its alert ended against a baseline that has the incident in it",
    ]);
    await dialog.getByText("The assets did die").click();
    expect((await dialog.locator(".consequences dd").first().innerText()).split("\n")).toEqual([
      "2 held organizations open at once",
      "1 organization stays held: another alert holds it, too",
    ]);
    await dialog.getByText("The checker was wrong").click();
    await dialog.locator("button.primary", { hasText: "Judge 3 alerts" }).click();
    await page.locator("#did", { hasText: "3 judged." }).waitFor();

    const { gates } = (await (await fetch(`${url}/api/v1/gate`)).json()) as { gates: { slug: string }[] };
    expect(gates.map(({ slug }) => slug).filter((slug) => ended.includes(slug))).toEqual(
      expect.arrayContaining(["tainted", "twice"]),
    );
    expect(gates.map(({ slug }) => slug)).not.toContain("over");
  });
});

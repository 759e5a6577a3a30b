import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const spiking = ["acme", "globex", "initech"];

let folder: DaemonFolder;
let sink: HttpSink;
let url: string;

beforeEach(async () => {
  folder = await makeDaemonFolder();
  sink = await startHttpSink((response) => response.writeHead(204).end());
  for (const slug of spiking) await folder.addDeaths(slug, { lastHour: 30, perDay: 1 });
  for (const slug of ["calm", "quiet"]) await folder.addDeaths(slug, { lastHour: 1, perDay: 1 });
});
afterEach(async () => {
  await folder.close();
  await sink.close();
});

/** A daemon of which all organizations ran; of five three spike, which is more than the half of a fleet verdict. */
async function start(alerting: string, receivers: string, defaults = "{}"): Promise<void> {
  await folder.configure(`
source: { type: embedded }
defaults: ${defaults}
organizations: [acme, globex, initech, calm, quiet]
alerting: ${alerting}
receivers: ${receivers}
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => {
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.length === 5 && checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
}

/** The text of the overview, each part of it on its own. */
async function textOf(part: "sentence" | "why" | "Notified"): Promise<string> {
  const html = await (await fetch(url)).text();
  const pattern =
    part === "Notified"
      ? /<dt>Notified<\/dt>\s*<dd>(.*?)<\/dd>/s
      : new RegExp(`class="${part}"[^>]*>(.*?)</(?:h1|p)>`, "s");
  const found = pattern.exec(html)?.[1] ?? "";
  return found
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const hook = (name: string, hookUrl: string): string => `{ name: ${name}, type: webhook, url: "${hookUrl}" }`;

describe("the sentence, at the bounds of a fleet verdict", () => {
  it("says that the verdict is forming until it is sent, when it goes out and to whom", async () => {
    await start("{ groupWait: 1h }", `[${hook("ops", sink.url)}, ${hook("lead", sink.url)}]`);

    expect(await textOf("sentence")).toBe("3 of 5 organizations spike at once. The fleet verdict is forming.");
    expect(await textOf("why")).toMatch(
      /^Nobody has been notified yet\. It goes out at (?:\d+ \w+ )?\d\d:\d\d:\d\d to ops and lead, as one message in place of 3\.$/,
    );
    expect(await textOf("Notified")).toMatch(/^nobody yet, in (?:59m(?: \d+s)?|1h)$/);
  });

  it("suspects the checker from the moment at which it is sent", async () => {
    await start("{ groupWait: 1s }", `[${hook("ops", sink.url)}]`);

    await eventually(async () => sink.requests.length === 1);
    expect(await textOf("sentence")).toBe("3 of 5 organizations spike at once. Suspect the liveness checker.");
  });

  it("suspects the checker where nobody is to be notified", async () => {
    await start("{ groupWait: 1s }", "[]");

    expect(await textOf("sentence")).toBe("3 of 5 organizations spike at once. Suspect the liveness checker.");
    expect(await textOf("Notified")).toMatch(/^nobody/);
  });

  it("says how many fire while more than the bound spike and wait for `for`", async () => {
    await start("{}", `[${hook("ops", sink.url)}]`, "{ alert: { for: 1h } }");

    expect(await textOf("sentence")).toBe(
      "3 of 5 organizations spike: 3 fail. 0 of them fire; a fleet verdict needs 3.",
    );
  });

  it("says too few below it only", async () => {
    await start("{ fleet: { minOrganizations: 4 } }", `[${hook("ops", sink.url)}]`);

    expect(await textOf("sentence")).toBe("3 of 5 organizations spike: 3 fail. Too few for a fleet verdict (from 4).");
  });
});

describe("who was notified of a fleet verdict", () => {
  it("is who accepted it; of who did not it says how often it was tried, why not, and when again", async () => {
    const closed = await startHttpSink(() => undefined);
    await closed.close();
    await start("{ groupWait: 1s }", `[${hook("lead", sink.url)}, ${hook("ops", closed.url)}]`);

    await eventually(async () => / · ops waiting \d+ tr/.test(await textOf("Notified")));
    expect(await textOf("Notified")).toMatch(
      /^lead \d\d:\d\d · ops waiting \d+ (?:try|tries), connection refused, (?:again in \d+s|again now|under way)$/,
    );
  });

  it("is nobody where a receiver refused it for good, and says so", async () => {
    const gone = await startHttpSink((response) => response.writeHead(410).end());
    await start("{ groupWait: 1s }", `[${hook("ops", gone.url)}]`);

    await eventually(async () => /dead letter/.test(await textOf("Notified")));
    expect(await textOf("Notified")).toMatch(/^ops did not accept it dead letter, .*410/);
    await gone.close();
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { hourMs, minuteMs } from "../../../src/base/time.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const spiking = ["acme", "globex", "initech"];
const token = "a-token-of-the-tests";
const operator = { authorization: `Bearer ${token}` };

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
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => {
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.length === 5 && checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
}

/** The text of the overview, each part of it on its own: the sentence, what it means, a fact by its name. */
async function textOf(part: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const html = await (await fetch(url, { headers })).text();
  const pattern =
    part !== "sentence" && part !== "why"
      ? new RegExp(`<dt>${part}</dt>\\s*<dd>(.*?)</dd>`, "s")
      : new RegExp(`class="${part}"[^>]*>(.*?)</(?:h1|p)>`, "s");
  const found = pattern.exec(html)?.[1] ?? "";
  return found
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const hook = (name: string, hookUrl: string): string => `{ name: ${name}, type: webhook, url: "${hookUrl}" }`;

describe("the sentence, at the bounds of a fleet verdict", () => {
  it("suspects the checker from the moment at which it is sent", async () => {
    await start("{ fleet: { ratio: 0.5 }, groupWait: 1s }", `[${hook("ops", sink.url)}]`);

    await eventually(async () => sink.requests.length === 1);
    expect(await textOf("sentence")).toBe("3 of 5 organizations spike at once. Suspect the liveness checker.");
  });

  it("says neither too few nor that more are needed where enough fire, up to the message", async () => {
    await start("{ fleet: { ratio: 0.5 }, groupWait: 1s, groupInterval: 1h }", `[${hook("ops", sink.url)}]`);
    const sentences = new Set<string>();
    await eventually(async () => {
      sentences.add(await textOf("sentence"));
      return sink.requests.length > 0;
    });

    for (const one of sentences) expect(one).not.toMatch(/Too few|needs/);
  });

  it("suspects the checker where nobody is to be notified", async () => {
    await start("{ fleet: { ratio: 0.5 }, groupWait: 1s }", "[]");

    expect(await textOf("sentence")).toBe("3 of 5 organizations spike at once. Suspect the liveness checker.");
    expect(await textOf("Notified")).toMatch(/^nobody/);
  });

  it("says nothing of too few below it", async () => {
    await start("{ fleet: { minOrganizations: 4 } }", `[${hook("ops", sink.url)}]`);

    expect(await textOf("sentence")).toBe("3 of 5 organizations spike: 3 fail.");
  });
});

describe("what is known of a fleet verdict", () => {
  it("is when it began, what was marked before, since when what is held and how much is undone; page, API and message alike", async () => {
    const nowMs = Date.now();
    await folder.withStore((store) =>
      store.transaction(async ({ events, markers }) => {
        const marker = { id: "m1", text: "checker 4.2 deployed", slug: null, createdBy: null, note: null };
        await markers.add({ ...marker, atMs: nowMs - 120 * minuteMs, createdAtMs: nowMs });
        const event = { assetType: "URL", id: null, count: 1 };
        const assets = Array.from({ length: 30 }, (_, index) => `https://a${index}.example`);
        for (const slug of spiking)
          await events.add([
            ...assets.map((asset) => ({ ...event, slug, asset, status: "DETECTED_AS_DEAD", atMs: nowMs - hourMs })),
            ...assets
              .slice(15)
              .map((asset) => ({ ...event, slug, asset, status: "DETECTED_AS_ALIVE", atMs: nowMs - 20 * minuteMs })),
          ]);
      }),
    );
    await start("{ fleet: { ratio: 0.5 }, groupWait: 1s }", `[${hook("ops", sink.url)}]`);
    await eventually(async () => sink.requests.length === 1);

    const { fleet } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as { fleet: Record<string, unknown> };
    expect(fleet).toMatchObject({ state: "sent", spiking: 3, markers: [{ text: "checker 4.2 deployed" }] });
    expect(JSON.parse(sink.requests[0]?.body ?? "{}")).toMatchObject({
      fleet: { id: fleet["id"], beganAt: fleet["beganAt"], markers: fleet["markers"], undone: fleet["undone"] },
    });
    expect(await textOf("Began")).toMatch(/^(?:\d+ \w+ )?\d\d:\d\d median; the first, \w+ , (?:\d+ \w+ )?\d\d:\d\d$/);
    expect(await textOf("Marker")).toMatch(/^checker 4\.2 deployed (?:\d+ \w+ )?\d\d:\d\d , \d+ min before$/);
    expect(await textOf("Detected")).toMatch(/ after it began$/);
    expect(await textOf("Held")).toMatch(/^3 organizations since /);
    expect(await textOf("Undone")).toMatch(/^\d+ % of the deaths were found alive again$/);
  });
});

describe("who was notified of a fleet verdict", () => {
  it("is who accepted it; of who did not it says how often it was tried, why not, and when again", async () => {
    const closed = await startHttpSink(() => undefined);
    await closed.close();
    await start("{ fleet: { ratio: 0.5 }, groupWait: 1s }", `[${hook("lead", sink.url)}, ${hook("ops", closed.url)}]`);

    await eventually(async () => / · ops waiting \d+ tr/.test(await textOf("Notified", operator)));
    expect(await textOf("Notified", operator)).toMatch(
      /^lead \d\d:\d\d · ops waiting \d+ (?:try|tries), connection refused, (?:again in \d+s|again now|under way)$/,
    );
    expect(await textOf("Notified")).toMatch(/^lead \d\d:\d\d · ops waiting$/);
  });

  it("is nobody where a receiver refused it for good, and says so", async () => {
    const gone = await startHttpSink((response) => response.writeHead(410).end());
    await start("{ fleet: { ratio: 0.5 }, groupWait: 1s }", `[${hook("ops", gone.url)}]`);

    await eventually(async () => /dead letter/.test(await textOf("Notified", operator)));
    expect(await textOf("Notified", operator)).toMatch(/^ops did not accept it dead letter, .*410/);
    expect(await textOf("Notified")).toBe("ops did not accept it");
    await gone.close();
  });

  it("is shown without recipients and answers to those who have no right to read them, on every page and in its data", async () => {
    const refusing = await startHttpSink((response) => response.writeHead(410).end("no such room"));
    const closed = await startHttpSink(() => undefined);
    await closed.close();
    const port = new URL(closed.url).port;
    const mail = `{ name: mail, type: email, from: flatline@example.org, to: [dana@example.org], url: "smtp://127.0.0.1:${port}" }`;
    await start(
      "{ fleet: { ratio: 0.5 }, groupWait: 1s }",
      `[${hook("ops", refusing.url)}, ${hook("lead", sink.url)}, ${mail}]`,
    );
    await eventually(async () => {
      const told = await textOf("Notified", operator);
      return /no such room/.test(told) && /mail waiting \d+ tr/.test(told) && /lead/.test(told);
    });
    const { alerts } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as { alerts: { id: string }[] };

    const paths = ["/", "/rows.json", "/o/acme", "/alerts", `/alerts/${alerts[0]?.id}`, "/api/v1/alerts"];
    const read = (path: string, headers: Readonly<Record<string, string>>): Promise<string> =>
      fetch(`${url}${path}`, { headers }).then((response) => response.text());
    const secrets = /no such room|dana@|refused, |again in|\d tr(?:y|ies)|"lastError"/;
    const shown = async (headers: Readonly<Record<string, string>>): Promise<string[]> => {
      const texts = await Promise.all(paths.map(async (path) => [path, await read(path, headers)] as const));
      return texts.flatMap(([path, text]) => (secrets.test(text) ? [path] : []));
    };

    expect(await shown({})).toEqual([]);
    expect(await shown(operator)).toEqual(["/", "/rows.json", "/o/acme", `/alerts/${alerts[0]?.id}`]);
    expect(await textOf("Notified")).toMatch(/ops did not accept it/);
    await refusing.close();
  });
});

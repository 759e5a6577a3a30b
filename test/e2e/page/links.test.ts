import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { signActLink } from "../../../src/alerting/act-link.ts";
import { Secret } from "../../../src/base/secret.ts";
import { alertOf as findAlert, useDaemonFolder, type LiveAlert } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const secret = "a-secret-for-the-links";
const token = "a-token-of-the-tests";
const slugs = ["acme", "globex", "initech"];

const folder = useDaemonFolder();
let chat: HttpSink;

beforeAll(async () => {
  // The first attempt for acme fails and echoes what it was sent: nothing of a link may be kept of that.
  let failures = 0;
  chat = await startHttpSink((response, { body, path }) => {
    if (path === "/acme" && failures++ === 0) response.writeHead(503, { "retry-after": "0" }).end(body);
    else response.writeHead(200).end("ok");
  });
  const receivers = slugs.map(
    (slug) => `  - { name: ${slug}-chat, type: slack, url: "${chat.url}/${slug}", match: { slug: ${slug} } }`,
  );
  await folder.configure(`
defaults: { schedule: "@yearly", gate: { releaseOn: [resolved] } }
organizations: [acme, globex, initech]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false, externalUrl: "${folder.url}/" }
receivers:
${receivers.join("\n")}
  - { name: hook, type: webhook, url: "${chat.url}/hook" }
server: { listen: "${folder.listen}", token: a-token-of-the-tests, linkSecret: ${secret} }
`);
  for (const slug of slugs) await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
  await folder.start();
});
afterAll(async () => {
  await chat.close();
});

/** The links of the last message about the organization, by their label. */
function linksOf(slug: string): Promise<Map<string, string>> {
  return eventually(async () => {
    const sent = chat.requests.filter(({ path }) => path === `/${slug}`).at(-1);
    if (sent === undefined) return null;
    const found = [...sent.body.matchAll(/<(http[^|>]+)\|([^>]+)>/g)].map(
      ([, link = "", label = ""]) => [label, link.replaceAll("&amp;", "&")] as const,
    );
    return new Map(found);
  });
}

async function linkOf(slug: string, label: string): Promise<string> {
  const link = (await linksOf(slug)).get(label);
  if (link === undefined) throw new Error(`no ${label} in the message about ${slug}`);
  return link;
}

const alertOf = (slug: string): Promise<LiveAlert> => findAlert(folder.url, token, slug);

function audit(slug: string): unknown[] {
  const database = new DatabaseSync(join(folder.path, "flatline.db"), { readOnly: true });
  try {
    const rows = database.prepare("select action, actor, via from audit where slug = ? order by entry_id").all(slug);
    return rows.map(({ action, actor, via }) => [action, actor, via].join(" "));
  } finally {
    database.close();
  }
}

const read = async (link: string, init?: RequestInit): Promise<{ status: number; text: string; headers: Headers }> => {
  const response = await fetch(link, { redirect: "manual", ...init });
  return { status: response.status, text: await response.text(), headers: response.headers };
};
const headingOf = (text: string): string => /<h1[^>]*>([^<]*)</.exec(text)?.[1]?.replaceAll("\u00a0", " ") ?? "";

describe("the links of a message", () => {
  it("are the incident's page first, then the one that acknowledges", async () => {
    const links = await linksOf("acme");
    const number = (await alertOf("acme")).incidentNumber;
    expect([...links.keys()]).toEqual([`Open incident ${number}`, "Acknowledge"]);
    expect(links.get(`Open incident ${number}`)).toBe(`${folder.url}/incidents/${number}`);
  });

  it("are in chats and mail only, and kept nowhere", async () => {
    await linksOf("acme");
    const hooks = await eventually(async () => {
      const found = chat.requests.filter(({ path }) => path === "/hook");
      return found.length === 0 ? null : found;
    });
    const stored = ["flatline.db", "flatline.db-wal"].map((name) => readFileSync(join(folder.path, name), "latin1"));

    for (const { body } of hooks) expect(body).not.toContain("signature=");
    for (const text of stored) expect(text).not.toContain("signature=");
    for (const { body } of chat.requests)
      for (const [, signature = ""] of body.matchAll(/signature=([\w-]{20,})/g))
        for (const text of stored) expect(text).not.toContain(signature);
  });

  it("change nothing however often they are fetched", async () => {
    const links = [...(await linksOf("globex")).values()].slice(1);

    for (const link of links)
      for (let round = 0; round < 10; round++)
        await Promise.all(
          Array.from({ length: 10 }, (_, index) => read(link, { method: index % 5 === 0 ? "HEAD" : "GET" })),
        );

    expect(await alertOf("globex")).toMatchObject({ acknowledged: false, silenced: false });
    expect(audit("globex")).toEqual([]);
  });

  it("show what they would do, to nobody else and for no cache, and nothing of themselves", async () => {
    const link = await linkOf("globex", "Acknowledge");
    const { status, text, headers } = await read(link);

    expect([status, headingOf(text)]).toEqual([200, "Acknowledge globex?"]);
    expect(text).toContain("What is on hold stays on hold.");
    expect(text).toContain("90 deaths");
    expect(text).toContain("Opening it changed nothing.");
    expect(text).not.toContain(new URL(link).searchParams.get("signature"));
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  it("act once, by the form's POST, in the receiver's name", async () => {
    const link = await linkOf("globex", "Acknowledge");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const post = { method: "POST", headers: form, body: "name=dana" };
    const first = await read(link, post);
    const again = await Promise.all(Array.from({ length: 8 }, () => read(link, post)));

    expect([first.status, headingOf(first.text)]).toEqual([200, "Acknowledged."]);
    expect(new Set(again.map(({ status, text }) => `${status} ${headingOf(text)}`))).toEqual(
      new Set(["200 Done already."]),
    );
    expect(headingOf((await read(link)).text)).toBe("Done already.");
    expect(await alertOf("globex")).toMatchObject({
      acknowledged: true,
      acknowledgement: { by: "globex-chat", note: "dana" },
    });
    expect(audit("globex")).toEqual(["acknowledge globex-chat link"]);
  });

  it.each<[string, (link: URL) => void, string]>([
    ["for another incident", (link) => (link.pathname += "0"), "altered"],
    [
      "after its time",
      (link) => {
        const incident = Number(link.pathname.split("/").at(-1));
        const over = { incident, receiver: "acme-chat", expiresAtMs: Date.now() - 1 };
        link.href = `${folder.url}/${signActLink(new Secret(secret), over)}`;
      },
      "expired",
    ],
    [
      "of a receiver that is no longer configured",
      (link) => {
        const incident = Number(link.pathname.split("/").at(-1));
        const gone = { incident, receiver: "gone", expiresAtMs: Date.now() + 60_000 };
        link.href = `${folder.url}/${signActLink(new Secret(secret), gone)}`;
      },
      "expired",
    ],
  ])("are refused %s, looked at or followed", async (_what, change, reason) => {
    const link = new URL(await linkOf("acme", "Acknowledge"));
    change(link);

    for (const method of ["GET", "POST"]) {
      const { status, text } = await read(link.href, { method });
      expect([status, headingOf(text)]).toEqual([
        403,
        reason === "expired" ? "This link has expired." : "This link was altered or is for something else.",
      ]);
    }
    expect(await alertOf("acme")).toMatchObject({ acknowledged: false, silenced: false });
    expect(audit("acme")).toEqual([]);
  });
});

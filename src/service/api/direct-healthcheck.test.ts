import { connect, type Socket } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  platformKeys,
  startPlatformServer,
  type PlatformServer,
} from "../../../test/support/far-side/platform-server.ts";
import { sendRaw } from "../../../test/support/web-harness.ts";
import { FlatlineError } from "../../base/errors.ts";

const path = "/api/v2/healthchecks/assets/dead-asset-spike";
const url = "/healthchecks/assets/dead-asset-spike";

let routed: PlatformServer;
let direct: PlatformServer;

beforeAll(async () => {
  [routed, direct] = await Promise.all([startPlatformServer(), startPlatformServer({ isDirect: true })]);
});

afterAll(async () => {
  await Promise.all([routed.close(), direct.close()]);
});

interface Case {
  readonly what: string;
  readonly call?: Parameters<PlatformServer["call"]>[2];
  readonly path?: string;
  readonly method?: string;
  /** Whether it is answered before the routes. */
  readonly isDirect: boolean;
}

const body = { slug: "acme" };

const cases: readonly Case[] = [
  { what: "a healthcheck", call: { body }, isDirect: true },
  { what: "every threshold", call: { body: { ...body, windowHours: 1, warnMultiplier: 1.1 } }, isDirect: true },
  { what: "unknown keys", call: { body: { ...body, more: [1] } }, isDirect: true },
  { what: "thresholds that go beyond all dates", call: { body: { ...body, windowHours: 2 ** 50 } }, isDirect: true },
  {
    what: "an organization that is only stored",
    call: { body: { slug: "globex" }, key: platformKeys.globex },
    isDirect: true,
  },
  { what: "an organization out of reach", call: { body: { slug: "globex" } }, isDirect: true },
  { what: "an organization that does not exist", call: { body: { slug: "żółw" } }, isDirect: true },
  { what: "several problems", call: { body: { windowHours: "24", failMultiplier: 0 } }, isDirect: true },
  { what: "no JSON", call: { body: "{" }, isDirect: true },
  { what: "no UTF-8", call: { body: new Uint8Array([0xff, 0x22]) }, isDirect: true },
  { what: "no object", call: { body: "[]" }, isDirect: true },
  { what: "an empty body", call: { body: "" }, isDirect: true },
  { what: "a byte order mark", call: { body: `\ufeff${JSON.stringify(body)}` }, isDirect: true },
  { what: "another type", call: { body, headers: { "content-type": "text/plain" } }, isDirect: false },
  { what: "an unknown key", call: { body, key: "nobody" }, isDirect: false },
  { what: "no key", call: { body, key: null }, isDirect: false },
  { what: "a query", path: `${url}?a=b`, call: { body }, isDirect: false },
  { what: "another method", method: "PUT", call: { body }, isDirect: false },
  { what: "a long body", call: { body: { ...body, more: "x".repeat(20_000) } }, isDirect: false },
  { what: "a body over the limit", call: { body: { ...body, more: "x".repeat(2_000_000) } }, isDirect: false },
];

describe("a healthcheck that is answered before the routes", () => {
  it.each(cases)(
    "is what the route answers: $what",
    async ({ path: target = url, method = "POST", call, isDirect }) => {
      const before = [direct.direct(), direct.counted.length, routed.counted.length] as const;

      const [ours, theirs] = await Promise.all([direct, routed].map((server) => server.call(method, target, call)));

      expect(said(ours)).toEqual(said(theirs));
      expect(direct.direct() - before[0]).toBe(isDirect ? 1 : 0);
      expect(direct.counted.slice(before[1])).toEqual(routed.counted.slice(before[2]));
    },
  );

  it("is left to the route with two keys, and with a body of unknown length", async () => {
    const before = direct.direct();
    const key = `x-api-key: ${platformKeys.acme}\r\n`;
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n`;
    const text = JSON.stringify(body);

    const twoKeys = await sendRaw(portOf(direct), `${head}${key}${key}content-length: 15\r\n\r\n${text}`);
    const chunked = await sendRaw(
      portOf(direct),
      `${head}${key}transfer-encoding: chunked\r\n\r\nf\r\n${text}\r\n0\r\n\r\n`,
    );

    expect(twoKeys).toMatch(/^HTTP\/1\.1 401 /);
    expect(chunked).toMatch(/^HTTP\/1\.1 200 /);
    expect(direct.direct()).toBe(before);
  });

  it("may come in pieces", async () => {
    const before = direct.direct();
    const text = JSON.stringify(body);
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n`;
    const socket = connect({ port: portOf(direct), host: "127.0.0.1", noDelay: true });
    const answers = socket.setEncoding("utf8").toArray();

    await write(socket, `${head}x-api-key: ${platformKeys.acme}\r\ncontent-length: ${text.length}\r\n\r\n`);
    for (const character of text) await write(socket, character);

    expect((await answers).join("")).toMatch(/^HTTP\/1\.1 200 /);
    expect(direct.direct()).toBe(before + 1);
  });
});

describe("a failure inside", () => {
  it("of the common count is repaired by counting for each", async () => {
    const counts = { deaths: () => Promise.reject(new Error("no disk")) };
    const server = await startPlatformServer({ isDirect: true, counts });

    const answers = await Promise.all([0, 1, 2].map(() => server.call("POST", url, { body })));
    await server.close();

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(server.direct()).toBe(3);
  });

  it.each([
    { error: new Error("secret inside"), status: 500, retryAfter: null },
    { error: new FlatlineError("store_busy", "locked"), status: 500, retryAfter: "1" },
  ])("is $status and tells nothing of it", async ({ error, status, retryAfter }) => {
    const fail = (): Promise<never> => Promise.reject(error);
    const server = await startPlatformServer({
      isDirect: true,
      counts: { deaths: fail },
      apiFor: () => ({ deadAssetSpike: fail, listReports: fail, reviewProposal: fail }),
    });

    const answer = await server.call("POST", url, { body });
    await server.close();

    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, retryAfter]);
    expect(answer.text).not.toMatch(/secret|locked/);
    expect(answer.json).toMatchObject({ code: "INTERNAL_SERVER_ERROR" });
    expect(server.world.logged).toHaveLength(retryAfter === null ? 1 : 0);
    expect(server.direct()).toBe(1);
  });
});

function portOf(server: PlatformServer): number {
  return Number(new URL(server.origin).port);
}

function write(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => void socket.write(text, () => resolve()));
}

// Of the connection and not of the answer; after a refusal the routes leave them out.
const connectionHeaders: ReadonlySet<string> = new Set(["connection", "keep-alive"]);

/** What an answer says, but for when. */
function said(answer: Awaited<ReturnType<PlatformServer["call"]>> | undefined): unknown {
  const headers = [...(answer?.headers ?? [])].filter(([name]) => name !== "date" && !connectionHeaders.has(name));
  return { status: answer?.status, headers, text: answer?.text };
}

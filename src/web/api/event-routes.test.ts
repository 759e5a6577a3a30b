import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";

import { request } from "undici";
import { describe, expect, it } from "vitest";

import { bearer, useWebs } from "../../../test/support/web-harness.ts";
import { FlatlineError } from "../../base/errors.ts";
import { maxEventsBytes } from "./event-routes.ts";

const start = useWebs();

async function post(
  url: string,
  body: string | Uint8Array | Readable,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: unknown }> {
  const answer = await request(`${url}/api/v1/events`, {
    method: "POST",
    body,
    headers: { ...bearer, "content-type": "application/x-ndjson", ...headers },
  });
  return { status: answer.statusCode, body: await answer.body.json() };
}

const line = '{"at":1,"slug":"acme"}\n';

describe("POST /api/v1/events", () => {
  it.each([
    { name: "lines", type: "application/x-ndjson", text: line + line },
    { name: "an array", type: "application/json", text: `[${line}]` },
    { name: "what a client calls anything else", type: "text/csv", text: line },
  ])("hands $name on as it came", async ({ type, text }) => {
    const { url, world } = await start();

    const answer = await post(url, text, { "content-type": type });

    expect(answer).toEqual({ status: 200, body: { received: 3, stored: 2, duplicates: 1, conflicts: 0 } });
    expect(world.ingested).toEqual([text]);
  });

  it("takes a body in many pieces of unknown length as it is", async () => {
    const { url, world } = await start();
    const pieces = Array.from({ length: 500 }, (_, index) => `{"n":${index},"x":"${"ä".repeat(index)}"}\n`);

    await post(url, Readable.from(pieces.map((piece) => Buffer.from(piece))));

    expect(world.ingested[0]).toBe(pieces.join(""));
  });

  it("refuses a body compressed by another method", async () => {
    const { url, world } = await start();

    const answer = await post(url, line, { "content-encoding": "br" });

    expect(answer).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
    expect(world.ingested).toEqual([]);
  });

  it.each(["gzip", "GZIP"])("takes a body with content-encoding %s", async (encoding) => {
    const { url, world } = await start();

    const answer = await post(url, gzipSync(` [${line}]`), { "content-encoding": encoding });

    expect(answer.status).toBe(200);
    expect(world.ingested).toEqual([` [${line}]`]);
  });

  it.each([
    { name: "that is not gzip", body: Buffer.from(line), status: 400, message: /not gzip/ },
    { name: "that is cut off", body: gzipSync(line).subarray(0, -9), status: 400, message: /incomplete/ },
    {
      name: "of a few KiB that becomes more than 16 MiB",
      body: gzipSync(Buffer.alloc(maxEventsBytes + 1, 0x20)),
      status: 413,
      message: /more than 16777216 bytes/,
    },
  ])("refuses a compressed body $name", async ({ body, status, message }) => {
    const { url, world } = await start();

    const answer = await post(url, body, { "content-encoding": "gzip" });

    expect(answer).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
    expect(world.ingested).toEqual([]);
  });

  it("says that it takes none without a local source", async () => {
    const { url, world } = await start();
    world.ingest = null;

    const answer = await post(url, line);

    expect(answer).toMatchObject({
      status: 409,
      body: { code: "CONFLICT", message: expect.stringContaining("source.type") },
    });
  });

  it.each([
    { name: "that says so", body: () => Buffer.alloc(maxEventsBytes + 1, 0x20) },
    {
      name: "that does not say so",
      body: () => Readable.from([Buffer.alloc(maxEventsBytes, 0x20), Buffer.from(line)]),
    },
  ])("refuses a larger one $name", async ({ body }) => {
    const { url, world } = await start();

    const answer = await post(url, body());

    expect(answer).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE" } });
    expect(world.ingested).toEqual([]);
  });

  it.each([
    [
      400,
      new FlatlineError("invalid_data", "2 lines are bad", {
        issues: ["line 2: no slug", "line 3: at is not a time"],
      }),
      { code: "BAD_REQUEST", issues: [{ message: "line 2: no slug" }, { message: "line 3: at is not a time" }] },
    ],
    [409, new FlatlineError("conflict", "the key was used for another body"), { code: "CONFLICT" }],
    [503, new FlatlineError("store_busy", "busy"), { code: "SERVICE_UNAVAILABLE" }],
  ])("answers %s when the port refuses it", async (status, error, body) => {
    const { url, world } = await start();
    world.ingest = () => Promise.reject(error);

    expect(await post(url, line)).toMatchObject({ status, body });
  });

  describe("beside others that are not stored yet", () => {
    const packed = gzipSync(Buffer.alloc(14 * 2 ** 20, 0x20));

    /** Complete posts wait until `store` is called. */
    async function holdPosts(): Promise<{ url: string; held: () => number; store: () => void }> {
      const { url, world } = await start();
      const waiting: (() => void)[] = [];
      world.ingest = async () => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return { received: 0, stored: 0, duplicates: 0, conflicts: 0, otherStatuses: {} };
      };
      return { url, held: () => waiting.length, store: () => waiting.splice(0).forEach((resolve) => resolve()) };
    }

    it("is refused with Retry-After when they would take too much of 64 MiB together, decompressed", async () => {
      const { url, held, store } = await holdPosts();
      const first = [1, 2, 3, 4].map(() => post(url, packed, { "content-encoding": "gzip" }));
      await expect.poll(held).toBe(4);

      const refused = await request(`${url}/api/v1/events`, {
        method: "POST",
        // 62 MiB in all: the last 4 are not for events.
        body: gzipSync(Buffer.alloc(6 * 2 ** 20, 0x20)),
        headers: { ...bearer, "content-encoding": "gzip" },
      });
      const said = await refused.body.json();
      const act = await request(`${url}/api/v1/silences`, {
        method: "POST",
        body: JSON.stringify({ slug: "acme", endsAt: "2099-01-01T00:00:00Z", comment: "rollout" }),
        headers: { ...bearer, "content-type": "application/json" },
      });
      store();

      expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([503, "1"]);
      expect(said).toMatchObject({ code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("try again later") });
      // People can still act.
      expect([act.statusCode, await act.body.json()]).toMatchObject([201, { slug: "acme" }]);
      expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const later = post(url, packed, { "content-encoding": "gzip" });
      await expect.poll(held).toBe(1);
      store();
      expect((await later).status).toBe(200);
    });

    it("takes memory until it is stored, also when its client has gone", async () => {
      const { url, held, store } = await holdPosts();
      const headers = { ...bearer, "content-type": "application/x-ndjson", "content-encoding": "gzip" };
      const leaving = new AbortController();
      const left = [1, 2, 3, 4].map(() =>
        request(`${url}/api/v1/events`, { method: "POST", body: packed, headers, signal: leaving.signal }),
      );
      await expect.poll(held).toBe(4);
      leaving.abort();
      await Promise.allSettled(left);

      expect((await post(url, packed, { "content-encoding": "gzip" })).status).toBe(503);
      store();
    });
  });
});

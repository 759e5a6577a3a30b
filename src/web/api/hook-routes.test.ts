import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { request } from "undici";
import { describe, expect, it } from "vitest";

import { sendRaw, useWebs, type RunningWeb } from "../../../test/support/web-harness.ts";

const start = useWebs();
const mostBytes = 64 * 1_024;

// What a receiver does with a hook is tested over a real store (e2e/pagerduty-in); here none is signed as it should be.
async function post(web: RunningWeb, bytes: number): Promise<{ status: number; retryAfter: unknown }> {
  const { statusCode, headers, body } = await request(`${web.url}/api/v1/hooks/pagerduty/pager`, {
    method: "POST",
    body: Buffer.alloc(bytes, 0x20),
    headers: { "x-pagerduty-signature": "v1=00" },
  });
  await body.dump();
  return { status: statusCode, retryAfter: headers["retry-after"] };
}

const head = (receiver: string, ...more: readonly string[]): string =>
  [`POST /api/v1/hooks/pagerduty/${receiver} HTTP/1.1`, "Host: localhost", ...more, "", ""].join("\r\n");

describe("POST /api/v1/hooks/pagerduty/…", () => {
  it.each([
    { name: "without a signature", text: head("pager", "Content-Length: 1000", "Connection: close") },
    {
      name: "for a receiver that has no secret",
      text: head("ops", "Content-Length: 1000", "Connection: close", "X-PagerDuty-Signature: v1=00"),
    },
  ])("$name is refused before its body is read", async ({ text }) => {
    const web = await start({ timeouts: { headersMs: 1_000, requestMs: 2_000, keepAliveMs: 1_000, checkMs: 50 } });

    expect(await sendRaw(web.port, text)).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("takes 64 KiB and not a byte more", async () => {
    const web = await start();

    expect(await post(web, mostBytes)).toMatchObject({ status: 403 });
    expect(await post(web, mostBytes + 1)).toMatchObject({ status: 413 });
  });

  it("takes 2 MiB of all that are under way, whoever sends them, and forgets those that go away", async () => {
    const web = await start();
    const slow: Socket[] = [];
    for (let count = 0; count < 32; count++) {
      const socket = connect(web.port, "127.0.0.1").on("error", () => undefined);
      await once(socket, "connect");
      socket.write(head("pager", `Content-Length: ${mostBytes}`, "X-PagerDuty-Signature: v1=00"));
      socket.write(Buffer.alloc(mostBytes - 1));
      slow.push(socket);
    }

    await expect.poll(() => post(web, mostBytes)).toEqual({ status: 503, retryAfter: "1" });
    for (const socket of slow) socket.destroy();
    await expect.poll(() => post(web, mostBytes)).toMatchObject({ status: 403 });
  });
});

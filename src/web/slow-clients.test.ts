import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import {
  ask,
  bearer,
  sendRaw,
  checkOf,
  startWeb,
  token,
  useWebs,
  type RunningWeb,
} from "../../test/support/web-harness.ts";

const start = useWebs();

describe("slow and idle clients", () => {
  const timeouts = { headersMs: 200, requestMs: 400, keepAliveMs: 200, answerMs: 10_000, checkMs: 50 };

  it.each([
    { name: "that does not end its head", text: "GET / HTTP/1.1\r\nHost: localhost\r\n" },
    {
      name: "that does not end its body",
      text:
        `POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    },
  ])("one $name gets 408 and is cut off", async ({ text }) => {
    const web = await start({ timeouts });

    const answer = await sendRaw(web.port, text);

    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toContain('"code":"REQUEST_TIMEOUT"');
  });

  it("one that asks nothing more is let go", async () => {
    const web = await start({ timeouts });

    const answer = await sendRaw(web.port, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");

    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("idle ones do not keep the server from closing, nor does one that hangs for longer than the grace", async () => {
    const web = await startWeb();
    const asked = new Promise<void>((resolve) => {
      web.world.run = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const idle = await fetch(`${web.url}/-/healthy`);
    await idle.text();
    const silent = connect(web.port, "127.0.0.1").on("error", () => undefined);
    await once(silent, "connect");
    const hanging = ask(web, "POST /api/v1/checks/dead-asset-spike/acme/run", bearer).then(
      () => "answered",
      () => "cut off",
    );
    await asked;

    await web.close(100);

    expect(await hanging).toBe("cut off");
    silent.destroy();
  });

  it("one that is being answered gets its answer while the server closes", async () => {
    const web = await startWeb();
    let finish: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      web.world.run = async () => {
        resolve();
        await new Promise<void>((done) => (finish = done));
        return resultReport();
      };
    });
    const answer = ask(web, "POST /api/v1/checks/dead-asset-spike/acme/run", bearer);
    await asked;

    const closed = web.close(10_000);
    finish();

    expect((await answer).status).toBe(200);
    await closed;
  });
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface Opened {
  readonly socket: Socket;
  /** Whether the server has closed it. */
  readonly isClosed: () => boolean;
  readonly text: () => string;
}

/** Connects and sends a part of a request. */
async function open(web: RunningWeb, text: string): Promise<Opened> {
  let isClosed = false;
  let received = "";
  const socket = connect(web.port, "127.0.0.1").on("error", () => undefined);
  sockets.push(socket.on("close", () => (isClosed = true)).on("data", (data) => (received += data.toString())));
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return { socket, isClosed: () => isClosed, text: () => received };
}

const listChecks = "GET /api/v1/checks HTTP/1.1\r\nHost: localhost\r\n\r\n";
const lastRequest = "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const mebibyte = 1_024 * 1_024;

/** Makes `/api/v1/checks` longer than the system's buffers for one connection. */
function answerAtLength(web: RunningWeb, bytes = 20 * mebibyte): void {
  web.world.checks = [checkOf(resultReport({ result: { title: "x".repeat(bytes) } }))];
}

/** Asks for the long answer and reads nothing of it. */
async function takeNothing(web: RunningWeb): Promise<Opened> {
  const opened = await open(web, "");
  opened.socket.pause().write(listChecks);
  return opened;
}

describe("many requests in one piece", () => {
  it("are begun one after the other, each when the answer to the one before was handed over", async () => {
    const web = await start();
    const reads: (() => void)[] = [];
    web.world.beforeRead = () => new Promise((resolve) => reads.push(resolve));
    const asked = await open(web, listChecks.repeat(3) + lastRequest);

    for (let count = 1; count <= 3; count++) {
      await expect.poll(() => reads.length).toBe(count);
      reads.at(-1)?.();
    }

    await expect.poll(asked.isClosed).toBe(true);
    expect(asked.text().split(/HTTP\/1\.1 200 OK/)).toHaveLength(5);
    expect(asked.text()).toMatch(/"status":"ok"\}$/);
  });

  it("of more than a hundred end their connection", async () => {
    const web = await start();

    const { isClosed } = await open(web, listChecks.repeat(2_000));

    await expect.poll(isClosed).toBe(true);
    expect((await ask(web, "GET /-/healthy")).status).toBe(200);
  });
});

describe("an answer that nobody takes", () => {
  const timeouts = { headersMs: 2_000, requestMs: 2_000, keepAliveMs: 2_000, answerMs: 300, checkMs: 50 };

  it("ends its connection when it has not moved for a while", async () => {
    const cutOff = Promise.withResolvers<unknown>();
    const web = await start({
      timeouts,
      transport: async (fastify, at) => {
        fastify.server.once("connection", (socket: Socket) => cutOff.resolve(once(socket, "close")));
        await fastify.listen(at);
        return fastify.server.address() as AddressInfo;
      },
    });
    answerAtLength(web);
    const { socket, isClosed, text } = await takeNothing(web);

    await cutOff.promise;
    socket.resume();

    await expect.poll(isClosed).toBe(true);
    expect(text().length).toBeLessThan(20 * mebibyte);
  });

  it("one that is still made has time", async () => {
    const web = await start({ timeouts });
    web.world.beforeRead = () => new Promise((resolve) => setTimeout(resolve, 700));

    expect((await ask(web, "GET /api/v1/checks")).status).toBe(200);
  });
});

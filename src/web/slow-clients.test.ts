import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import {
  ask,
  bearer,
  harnessNowMs,
  sendRaw,
  snapshotOf,
  startWeb,
  token,
  useWebs,
  type RunningWeb,
} from "../../test/support/web-harness.ts";

const start = useWebs();

describe("slow and idle clients", () => {
  const timeouts = { headersMs: 200, requestMs: 400, keepAliveMs: 200, checkMs: 50 };

  it.each([
    { name: "that does not end its head", text: "GET / HTTP/1.1\r\nHost: localhost\r\n" },
    {
      name: "that does not end its body",
      text: `POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
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
  /** Whether the server ended it. */
  readonly isClosed: () => boolean;
  readonly text: () => string;
}

/** Connects and sends that much of a request. */
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

/** Lets an answer of `/api/v1/checks` be so long, which is more than the memory of the system for one connection. */
function answerAtLength(web: RunningWeb, bytes = 20 * mebibyte): void {
  web.world.snapshots = [snapshotOf(resultReport({ result: { title: "x".repeat(bytes) } }))];
}

/** A server on a clock that stands still until it is moved. */
async function startOnClock(answerBytes?: number) {
  const clock = createVirtualClock({ startMs: harnessNowMs });
  const limits = { connections: 6, ...(answerBytes === undefined ? {} : { answerBytes }) };
  return { web: await start({ clock, limits }), clock };
}

/** Asks for the long answer and takes nothing of it. */
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

  it("of which nobody takes the answers are not begun: 600 take the memory of one", async () => {
    const { web, clock } = await startOnClock();
    answerAtLength(web);
    let reads = 0;
    web.world.beforeRead = async () => void reads++;
    const { socket, isClosed } = await open(web, "");

    socket.pause().write(listChecks.repeat(600));
    await clock.settleUntil(() => reads > 0);
    await clock.advance(20_000);
    socket.resume();

    await expect.poll(isClosed).toBe(true);
    expect(reads).toBe(1);
  });

  it("are answered, however many they are", async () => {
    const web = await start();

    const answers = await sendRaw(web.port, listChecks.repeat(2_000) + lastRequest);

    expect(answers.split("HTTP/1.1 200 OK")).toHaveLength(2_002);
  });

  it("of more than the server keeps are ended, and with them nobody else", async () => {
    const web = await start();
    const reads: (() => void)[] = [];
    web.world.beforeRead = () => new Promise((resolve) => reads.push(resolve));
    const greedy: Opened[] = [];
    // Each in one piece.
    for (let count = 0; count < 12; count++) greedy.push(await open(web, listChecks.repeat(1_200)));

    await expect.poll(() => greedy.some(({ isClosed }) => isClosed())).toBe(true);

    expect((await ask(web, "GET /-/healthy")).status).toBe(200);
    expect(greedy.filter(({ isClosed }) => !isClosed()).length).toBeGreaterThan(4);
  });
});

describe("an answer that nobody takes", () => {
  it("ends its connection when it has not moved for 10 s", async () => {
    const { web, clock } = await startOnClock();
    answerAtLength(web);
    const { socket, isClosed, text } = await takeNothing(web);

    await clock.advance(20_000);
    socket.resume();

    await expect.poll(isClosed).toBe(true);
    expect(text()).toMatch(/^HTTP\/1\.1 200 /);
    expect(text().length).toBeLessThan(20 * mebibyte);
  });

  it("but is taken in small pieces, comes to its end", async () => {
    const { web, clock } = await startOnClock();
    answerAtLength(web);
    const { socket, isClosed, text } = await takeNothing(web);

    while (text().length < 20 * mebibyte) {
      await clock.advance(8_000);
      const before = text().length;
      socket.resume();
      await clock.settleUntil(() => text().length - before >= 4 * mebibyte || text().length >= 20 * mebibyte);
      socket.pause();
    }

    expect(isClosed()).toBe(false);
    expect(text()).toMatch(/\]$/);
  });

  it("does not keep a place: health is answered where all are taken by such", async () => {
    const { web } = await startOnClock();
    answerAtLength(web, 8 * mebibyte);
    let reads = 0;
    web.world.beforeRead = async () => void reads++;
    const opened: Opened[] = [];
    for (let count = 1; count <= 6; count++) {
      opened.push(await takeNothing(web));
      await expect.poll(() => reads).toBe(count);
    }

    const health = await sendRaw(web.port, lastRequest);

    expect(health).toMatch(/^HTTP\/1\.1 200 /);
    for (const { socket } of opened) socket.resume();
    await expect.poll(() => opened.map(({ isClosed }) => isClosed())).toEqual([true, ...Array(5).fill(false)]);
  });

  it("holds memory that others may take when it stands still; until then they are refused, and health is not", async () => {
    const { web, clock } = await startOnClock(mebibyte);
    answerAtLength(web);
    const { socket, isClosed } = await takeNothing(web);
    await expect.poll(async () => (await ask(web, "GET /api/v1/checks")).status).toBe(503);
    const refused = await ask(web, "GET /api/v1/checks");
    expect([refused.headers.get("retry-after"), await refused.json()]).toEqual([
      "1",
      expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }),
    ]);
    expect((await ask(web, "GET /-/healthy")).status).toBe(200);

    await clock.advance(3_000);
    const answer = await ask(web, "GET /api/v1/checks");

    expect([answer.status, (await answer.text()).length > 20 * mebibyte]).toEqual([200, true]);
    socket.resume();
    await expect.poll(isClosed).toBe(true);
  });
});

describe("at the bound of connections", () => {
  const limits = { connections: 6 };

  const head = `POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  const halves = ["", "GET / HT", `${head}Content-Length: 10\r\n\r\n{`];
  const run = `POST /api/v1/checks/dead-asset-spike/acme/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;

  it("the oldest without a whole request is ended for each new one, so that health is always answered", async () => {
    const web = await start({ limits });
    const slow: Awaited<ReturnType<typeof open>>[] = [];
    for (let round = 0; round < 2; round++) for (const text of halves) slow.push(await open(web, text));

    const answers = [];
    for (let count = 0; count < 2; count++)
      answers.push(await sendRaw(web.port, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));

    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    await expect.poll(() => slow.map(({ isClosed }) => isClosed())).toEqual([true, false, false, false, false, false]);
    for (const text of [...halves, ...halves]) await open(web, text);
    expect(await sendRaw(web.port, "GET /-/healthy HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n")).toMatch(
      / 200 /,
    );
    await expect.poll(() => slow.every(({ isClosed }) => isClosed())).toBe(true);
  });

  it("one that waits for its answer is never ended", async () => {
    const web = await start({ limits });
    let finish: () => void = () => undefined;
    let running = 0;
    web.world.run = async () => {
      running++;
      await new Promise<void>((resolve) => (finish = resolve));
      return resultReport();
    };
    const asked = await open(web, run);
    await expect.poll(() => running).toBe(1);

    for (let count = 0; count < 20; count++) await open(web, "GET / HT");
    const health = await sendRaw(web.port, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    finish();

    expect(health).toMatch(/^HTTP\/1\.1 200 /);
    await expect.poll(() => asked.text()).toMatch(/^HTTP\/1\.1 200 /);
    expect(asked.isClosed()).toBe(false);
  });

  it("where all of them wait for an answer, the new one is closed unanswered", async () => {
    const web = await start({ limits });
    const finish: (() => void)[] = [];
    web.world.run = async () => {
      await new Promise<void>((resolve) => finish.push(resolve));
      return resultReport();
    };
    for (let count = 0; count < limits.connections; count++) await open(web, run);
    await expect.poll(() => finish.length).toBe(limits.connections);

    const refused = await open(web, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect.poll(refused.isClosed).toBe(true);
    expect(refused.text()).toBe("");
    for (const one of finish) one();
    await expect
      .poll(async () =>
        (await sendRaw(web.port, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).slice(
          0,
          12,
        ),
      )
      .toBe("HTTP/1.1 200");
  });
});

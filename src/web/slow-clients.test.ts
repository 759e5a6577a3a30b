import { once } from "node:events";
import { connect } from "node:net";

import { describe, expect, it } from "vitest";

import { resultReport } from "../../test/support/check-reports.ts";
import { ask, useWebs, bearer, sendRaw, startWeb, token } from "../../test/support/web-harness.ts";

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

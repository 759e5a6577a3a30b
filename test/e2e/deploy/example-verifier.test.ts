import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, it } from "vitest";

import { createHttpDispatcher } from "../../../src/base/http-dispatcher.ts";
import { Secret } from "../../../src/base/secret.ts";
import { createSystemClock } from "../../../src/base/time.ts";
import { askVerifier, type Verifier } from "../../../src/look/verifier.ts";
import { createWebhookSigner } from "../../../src/receivers/webhook/webhook.ts";
import { startForwardProxy, type ForwardProxy } from "../../support/far-side/forward-proxy.ts";

const program = fileURLToPath(new URL("../../../examples/verifier/verifier.mjs", import.meta.url));
const secret = "a-secret-of-the-tests";
const clock = createSystemClock();
const dispatcher = createHttpDispatcher({ env: {} });
let pages: readonly Server[] = [];
let proxy: ForwardProxy;
let verifier: ChildProcess;
let url = "";

beforeAll(async () => {
  const listener: RequestListener = (request, response) => {
    const host = request.headers.host ?? "";
    if (host === "moved.example") response.writeHead(302, { location: "http://up.example/in" }).end();
    else if (host === "refused.example") response.writeHead(403).end("<title>Just a moment</title> captcha");
    else if (host === "shy.example") response.writeHead(403).end("no");
    else if (host === "sold.example") response.end("<script src='//img.sedoparking.com/x.js'></script>");
    else if (host === "closed.example") response.writeHead(404).end();
    else response.end(`<title>Sign in to ${host}</title>${"x".repeat(200_000)}`);
  };
  const [key, cert] = ["key", "cert"].map((name) =>
    readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url)),
  );
  pages = [createServer(listener), createSecureServer({ key, cert }, listener)];
  for (const server of pages) await once(server.listen(0, "127.0.0.1"), "listening");
  const [plain = 0, secure = 0] = pages.map((server) => (server.address() as AddressInfo).port);
  proxy = await startForwardProxy((authority) =>
    authority === "down.example:80" ? { status: 503 } : { port: authority.endsWith(":443") ? secure : plain },
  );
  const env = { PROXY: proxy.url, SECRET: secret, LISTEN: "127.0.0.1:0" };
  verifier = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] });
  if (verifier.stdout === null) throw new Error("it has no output");
  const [line] = (await once(verifier.stdout, "data")) as [Buffer];
  url = `http://127.0.0.1:${/\d+/.exec(line.toString())?.[0]}`;
});
afterAll(async () => {
  verifier.kill();
  await proxy[Symbol.asyncDispose]();
  for (const server of pages) {
    server.closeAllConnections();
    server.close();
  }
});

function ask(key: string, assets: readonly string[]): ReturnType<typeof askVerifier> {
  const sign = createWebhookSigner([new Secret(key)]);
  const question = { incidentId: "the-incident", assets: assets.map((asset) => ({ asset, assetType: "URL" })) };
  const service: Verifier = {
    url: new Secret(url),
    timeoutMs: 30_000,
    sign,
  };
  return askVerifier(service, question, { id: "a-question", dispatcher, clock, signal: new AbortController().signal });
}

it("says through the proxy what each asset is, to who signs", async () => {
  const answers = await ask(secret, [
    ...["up", "moved", "refused", "shy", "sold", "closed", "down"].map((host) => `http://${host}.example/`),
    "up.example",
    "http://up.example:8080/",
    "a shop at the corner",
  ]);

  expect(
    Object.fromEntries([...answers.values()].map(({ asset, answer, detail }) => [asset, [answer, detail]])),
  ).toEqual({
    "http://up.example/": ["answers", "200 Sign in to up.example"],
    "up.example": ["answers", "200 Sign in to up.example"],
    "http://moved.example/": ["answers", "200 Sign in to up.example"],
    "http://refused.example/": ["challenge", "403 Just a moment"],
    "http://shy.example/": ["undecided", "403"],
    "http://sold.example/": ["parked", "200"],
    "http://closed.example/": ["gone", "404"],
    "http://down.example/": ["undecided", "the proxy answered 503"],
    "http://up.example:8080/": ["undecided", "not asked: port or scheme"],
    "a shop at the corner": ["undecided", "Invalid URL"],
  });
  expect(proxy.asked.every(({ authority }) => /^[a-z]+\.example:(?:80|443)$/.test(authority))).toBe(true);
});

it("refuses who does not sign, or with another secret", async () => {
  const before = proxy.asked.length;

  await expect(ask("another-secret-of-tests", ["http://up.example/"])).rejects.toThrow("the verifier answered 401");
  const unsigned = await fetch(url, { method: "POST", body: '{ "assets": [{ "asset": "http://up.example/" }] }' });

  expect(unsigned.status).toBe(401);
  expect(proxy.asked).toHaveLength(before);
});

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { FlatlineError } from "../../base/errors.ts";
import { hostOf, portOf } from "../names.ts";

/** An answer over HTTP, without what it redirects to. */
export interface FetchedPage {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body as text; empty of a redirect. */
  readonly body: string;
  /** Bytes of the body that were read, as they were sent. */
  readonly bytes: number;
}

export interface FetchOptions {
  readonly proxy: URL;
  readonly userAgent: string;
  /** Ends whatever goes on; what was read of a body until then counts. */
  readonly signal: AbortSignal;
}

/** CONTRACT 16: so much of a body is read, and so much is unpacked of it. */
export const mostBytes = 65_536;
const mostHeaderBytes = 16_384;

/**
 * Asks for a page at this address, through the proxy by CONNECT, for port 80 too: so that what was checked is what is asked.
 * Certificates are not checked, and nothing is sent but the request's own headers.
 * @throws api_network when there is no answer.
 */
export async function fetchPage(url: URL, address: string, options: FetchOptions): Promise<FetchedPage> {
  const { signal, userAgent } = options;
  const opened: Duplex[] = [];
  const close = (): void => {
    for (const stream of opened) stream.destroy();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    const tunnel = await openTunnel(address, portOf(url), options);
    opened.push(tunnel);
    // It may have opened while the signal aborted.
    signal.throwIfAborted();
    const stream = url.protocol === "https:" ? await secure(tunnel, hostOf(url)) : tunnel;
    opened.push(stream);
    const response = await ask(url, stream, userAgent);
    const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
    const status = response.statusCode ?? 0;
    const isRedirect = status >= 300 && status < 400;
    const raw = isRedirect ? Buffer.alloc(0) : await readMost(response);
    const body = await unpack(raw, headers["content-encoding"]?.trim().toLowerCase() ?? "identity");
    return { status, headers, body: new TextDecoder().decode(body), bytes: raw.length };
  } catch (error) {
    throw new FlatlineError("api_network", "no answer", { cause: error });
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

async function openTunnel(address: string, port: number, { proxy, signal }: FetchOptions): Promise<Socket> {
  const authority = isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = user === ":" ? {} : { "proxy-authorization": `Basic ${Buffer.from(user).toString("base64")}` };
  const request = proxy.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    request({
      host: hostOf(proxy),
      port: portOf(proxy),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...authorization },
      agent: false,
      maxHeaderSize: mostHeaderBytes,
      signal,
    })
      .once("connect", ({ statusCode = 0 }, socket, head) => {
        socket.on("error", () => undefined);
        if (statusCode >= 200 && statusCode < 300) {
          if (head.length > 0) socket.unshift(head);
          resolve(socket);
          return;
        }
        socket.destroy();
        reject(refused(statusCode));
      })
      .once("response", (response) => {
        response.destroy();
        reject(refused(response.statusCode ?? 0));
      })
      .once("error", reject)
      .end();
  });
}

async function secure(socket: Socket, host: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      rejectUnauthorized: false,
      ALPNProtocols: ["http/1.1"],
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    secured.on("error", reject);
    secured.once("close", () => reject(new FlatlineError("api_network", "closed before it was secure")));
    secured.once("secureConnect", () => resolve(secured));
  });
}

async function ask(url: URL, stream: Duplex, userAgent: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({
      createConnection: () => stream,
      host: url.hostname,
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        "user-agent": userAgent,
        accept: "text/html,*/*;q=0.5",
        "accept-encoding": "identity",
        connection: "close",
      },
      maxHeaderSize: mostHeaderBytes,
    })
      .once("response", resolve)
      // An answer may also be an upgrade or to a CONNECT that nobody asked for.
      .once("upgrade", () => reject(refused(101)))
      .on("error", reject)
      .end();
  });
}

/** Reads until enough is there, the body ends, or it breaks off: what came until then is what the page is judged by. */
async function readMost(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let left = mostBytes;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) break;
    }
  } catch {
    return Buffer.concat(chunks);
  }
  return Buffer.concat(chunks);
}

const unpackers: Readonly<Record<string, () => AsyncIterable<Buffer> & { end(raw: Buffer): unknown }>> = {
  // Half of a body is unpacked as far as it goes.
  gzip: () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ finishFlush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

/** One layer, as a few servers pack whatever was asked for; of several, or of others, nothing is read. */
async function unpack(raw: Buffer, encoding: string): Promise<Buffer> {
  if (encoding === "identity" || encoding === "") return raw;
  const unpacker = unpackers[encoding === "x-gzip" ? "gzip" : encoding]?.();
  if (unpacker === undefined) return Buffer.alloc(0);
  unpacker.end(raw);
  return readMost(unpacker);
}

function refused(status: number): FlatlineError {
  return new FlatlineError("api_network", `refused with status ${status}`);
}

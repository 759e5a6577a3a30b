import { createServer, type AddressInfo } from "node:net";

import { textOf, type Tree } from "./tree.ts";

/** A far side that answers every request with the bytes that it was told last, and closes. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  answer: Buffer;
}

export async function startRawServer(): Promise<RawServer> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(raw.answer));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = {
    url: `http://127.0.0.1:${port}`,
    answer: Buffer.alloc(0),
    [Symbol.asyncDispose]: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return raw;
}

/** An answer by its parts (status, headers, body), or as its bytes. */
export type Said = Tree | Buffer;

/** What an answer is on the wire, and what it says when it was not cut there. */
export interface SaidAnswer {
  readonly bytes: Buffer;
  readonly whole: { readonly status: number; readonly body: string } | null;
}

/** A part that is missing, or of another type, is as it is without. */
export function answerOf(said: Said): SaidAnswer {
  if (Buffer.isBuffer(said)) return { bytes: said, whole: null };
  const entries = said.kind === "object" ? said.entries : [];
  const part = (name: string): Tree | null => entries.findLast(({ key }) => key === name)?.value ?? null;
  const given = part("status");
  const number = given === null ? "" : textOf(given);
  const status = /^[2-5]\d\d$/.test(number) ? Number(number) : 200;
  const content = part("body");
  const body = content === null ? "" : textOf(content);
  const headers = part("headers");
  const lines = (headers?.kind === "object" ? headers.entries : []).map(({ key, value }) => {
    const shown = textOf(value).replaceAll(/^"|"$/g, "");
    return `${key.replaceAll(/[^\w-]/g, "") || "x"}: ${shown.replaceAll(/[^\x20-\x7e]/g, "").slice(0, 4_000)}\r\n`;
  });
  const head = `HTTP/1.1 ${status} Said\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${lines.join("")}\r\n`;
  return { bytes: Buffer.from(head + body), whole: { status, body } };
}

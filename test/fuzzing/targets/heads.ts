import { gzipSync } from "node:zlib";

import { requestBytes, secrets, startFuzzedDaemon } from "../fuzzed-daemon.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedBytes } from "../mutate.ts";
import { eventLines } from "./event-files.ts";

const authorization = `Bearer ${secrets.token}`;
const packed = gzipSync(eventLines.join("\n"));

const samples = [
  requestBytes({
    method: "POST",
    path: "/api/v1/events",
    headers: {
      authorization,
      "content-type": "application/x-ndjson",
      "content-encoding": "gzip",
      "idempotency-key": "9a1f",
    },
    body: packed,
  }),
  requestBytes({
    method: "POST",
    path: "/api/v1/checks/dead-asset-spike/acme/run",
    headers: { authorization, "idempotency-key": "x" },
  }),
  requestBytes({
    path: "/metrics?a=b",
    headers: {
      authorization: `Basic ${Buffer.from(`u:${secrets.token}`).toString("base64")}`,
      accept: "application/openmetrics-text; version=1.0.0; q=0.9, text/plain; q=0.5",
      "accept-encoding": "gzip;q=1.0, identity; q=0.5, *;q=0",
      cookie: "theme=dark; flatline=abc; a=%F0%9F",
      "x-forwarded-user": "kim",
    },
  }),
  requestBytes({
    path: "/api/v2/organization/reports?limit=5&slug=ads-hosts",
    headers: { "x-api-key": "example-key-ads", accept: "application/json", "if-none-match": '"x"', range: "bytes=0-1" },
  }),
  requestBytes({
    path: "/probe?slug=acme",
    headers: { "x-prometheus-scrape-timeout-seconds": "10.5", accept: "text/html,application/xhtml+xml" },
  }),
  Buffer.from(
    `POST /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\nconnection: close\r\n` +
      "transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
  ),
];

/** Whole requests, byte by byte: request line, headers that are read, bodies in gzip and in chunks. */
export const headsTarget: Target = { name: "heads", tries: 60, open };

async function open(): Promise<OpenTarget> {
  const daemon = await startFuzzedDaemon();
  let accepted = 0;
  return untyped({
    inputs: mutatedBytes(samples),
    attempt: async (request: Buffer) => {
      const before = daemon.stateHash();
      const answer = await daemon.ask(request, false);
      const complaints = await daemon.complaintsOf(answer, request.toString());
      const isRefused = answer.status >= 400;
      // What follows a whole request and is none closes the connection, and the answer to that one may be lost.
      const isOfConnection = answer.body.includes('"Bad Request"');
      if (answer.status >= 200 && !isRefused) accepted++;
      if (isRefused && !isOfConnection && (await daemon.changes(before, request)))
        complaints.push(`refused with ${answer.status}, and it changed`);
      return complaints;
    },
    show: (request: Buffer) => JSON.stringify(request.toString("latin1")),
    accepted: () => accepted,
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  });
}

import { connect } from "node:net";

/** An answer as it came. */
export interface RawAnswer {
  /** 0: none came. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

// A server waits for the rest of what was cut: then it is shown that nothing follows.
const patienceMs = 150;

/** Sends bytes as they are; resolves when the far side has closed, or has begun an answer without end. */
export async function exchange(port: number, request: Buffer, isWhole: boolean): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const timer = isWhole ? undefined : setTimeout(() => socket.end(), patienceMs);
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.length < 3 && /^content-type: text\/event-stream/im.test(chunk.toString("latin1"))) socket.destroy();
    });
    // It may refuse before it has read everything.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.write(request);
  });
  return answerOf(Buffer.concat(chunks));
}

function answerOf(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf("\r\n\r\n");
  const [line = "", ...lines] = bytes.toString("latin1", 0, Math.max(0, end)).split("\r\n");
  const headers = new Map(
    lines.map((header) => [
      header.slice(0, header.indexOf(":")).toLowerCase(),
      header.slice(header.indexOf(":") + 1).trim(),
    ]),
  );
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? 0);
  const rest = bytes.subarray(end + 4);
  // More may follow: an answer to what is left of a request.
  const length = Number(headers.get("content-length") ?? rest.length);
  const body = headers.get("transfer-encoding") === "chunked" ? unchunked(rest) : rest.subarray(0, length);
  return { status, headers, body: status === 0 ? bytes.toString() : body.toString() };
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}

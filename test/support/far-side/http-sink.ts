import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request as the far side got it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real HTTP server on 127.0.0.1 that keeps what it is sent and answers as it is told. */
export interface HttpSink {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  close(): Promise<void>;
}

/** Answers each request with `answer`, given the request and its number from 0. */
export async function startHttpSink(
  answer: (response: ServerResponse, request: ReceivedRequest, index: number) => void,
): Promise<HttpSink> {
  const requests: ReceivedRequest[] = [];
  const server: Server = createServer((incoming, response) => {
    const answerWith = (body: string): void => {
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body };
      answer(response, request, requests.push(request) - 1);
    };
    // Reading fails when the client goes away in the middle: then there is nobody to answer.
    text(incoming).then(answerWith, () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

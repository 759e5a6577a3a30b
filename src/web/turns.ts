import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The requests of one connection. */
interface Line {
  /** Whether one of them has its turn. */
  isBusy: boolean;
  readonly waiting: Turn[];
}

/**
 * Begins with one request of a connection at a time: the next one waits until the answer to the one before has been handed over
 * to the system. Node.js reads all that come in one piece, and would begin with all of them at once and keep every answer. While
 * one waits, nothing more is read of its connection; a connection that makes more than `mostWaiting` wait, together with all
 * others, is ended.
 */
export function inTurn(begin: RequestListener, mostWaiting: number): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  let waiting = 0;

  function open(socket: Socket): Line {
    const line: Line = { isBusy: false, waiting: [] };
    lines.set(socket, line);
    socket.once("close", () => {
      waiting -= line.waiting.splice(0).length;
    });
    // Node.js resumes a connection when it has answered a request or wants more of a body.
    socket.on("resume", () => {
      if (line.waiting.length > 0) socket.pause();
    });
    return line;
  }

  function start(socket: Socket, line: Line, { request, response }: Turn): void {
    line.isBusy = true;
    response.once("close", () => {
      line.isBusy = false;
      // After the last answer that its client wants.
      if (!socket.writable) return;
      const next = line.waiting.shift();
      if (next === undefined) return;
      waiting--;
      if (line.waiting.length === 0) socket.resume();
      start(socket, line, next);
    });
    begin(request, response);
  }

  return (request, response) => {
    const { socket } = request;
    // Node.js goes on with the rest of a piece after its connection was ended.
    if (socket.destroyed) return;
    const line = lines.get(socket) ?? open(socket);
    if (!line.isBusy) return start(socket, line, { request, response });
    if (waiting >= mostWaiting) return void socket.destroy();
    waiting++;
    line.waiting.push({ request, response });
    socket.pause();
  };
}

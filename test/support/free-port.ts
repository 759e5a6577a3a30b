import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ports that systems give to whoever asks for any (Linux: from 32,768 on), as other tests do all the time.
const [lowest, highest] = [10_000, 32_000];

/** Returns a port of 127.0.0.1 on which nobody listens, and which nobody gets who asks for any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { sendRequest } from "../base/http.ts";
import type { Clock } from "../base/time.ts";
import { daemonUrl } from "./daemon-address.ts";

const timeoutMs = 4_000;
const maxBodyBytes = 64 * 1024;
// A container's health log keeps 4,096 bytes of an answer.
const maxShownCharacters = 2_000;
const whereItAsks =
  "The address is server.listen of the configuration (-c), which is the daemon's, else $FLATLINE_LISTEN";

/** Returns the health of the daemon that listens at `listen` (host:port). Never rejects: no answer means unhealthy. */
export async function askHealthy(
  listen: string,
  { clock }: { readonly clock: Clock },
): Promise<{ readonly isHealthy: boolean; readonly message: string }> {
  const url = `${daemonUrl(listen)}/-/healthy`;
  // Never through a proxy: the address is this machine.
  const dispatcher = createHttpDispatcher({ env: {} });
  try {
    const request = { method: "GET", url, headers: {}, signal: clock.timeout(timeoutMs), maxBodyBytes };
    const { status, body } = await sendRequest(dispatcher, request);
    const answer = body.trim();
    if (status === 200) return { isHealthy: true, message: answer };
    return { isHealthy: false, message: `${url} answers ${status}: ${answer.slice(0, maxShownCharacters)}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { isHealthy: false, message: `no answer from ${url}: ${reason}. Is the daemon running? ${whereItAsks}` };
  } finally {
    await dispatcher.destroy();
  }
}

import { isLoopbackHost } from "../base/loopback-host.ts";
import { memoized } from "../base/memo.ts";

/** The names that a server on the loopback interface answers to, beside those of the interface itself. */
export interface ServedNames {
  /** As `server.listen` has it. */
  readonly listenHost: string;
  readonly externalUrl: string | null;
}

/**
 * Returns the refusal of a request to a server on the loopback interface that names another host: a page of a foreign
 * site whose name was made to resolve to 127.0.0.1 (DNS rebinding) could read everything otherwise. Browsers always
 * name the host; a request without one is not from a browser. null: it may be answered.
 */
export function refuseForeignHost(host: string | undefined, names: ServedNames): string | null {
  if (host === undefined) return null;
  const hostname = hostnameOf(host);
  const own = [hostnameOf(names.listenHost), hostnameOfUrl(names.externalUrl ?? "")];
  if (hostname !== null && /^[^@/?#\\]+$/.test(host) && (isLoopbackHost(hostname) || own.includes(hostname)))
    return null;
  const shown = JSON.stringify(host.slice(0, longestShown));
  return `flatline listens on this machine only and does not answer to the name ${shown}: use localhost or 127.0.0.1, or set alerting.externalUrl to the address that it is reached by`;
}

// A name of DNS has at most 253 characters.
const longestShown = 253;

// Asked three times per request, always about the same few names.
const keptNames = 64;
const hostnameOfUrl = memoized(keptNames, (url: string) => URL.parse(url)?.hostname ?? null);
const hostnameOf = memoized(keptNames, (host: string) => hostnameOfUrl(`http://${host}`));

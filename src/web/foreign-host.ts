import { isLoopbackHost } from "../base/loopback-host.ts";
import { memoized } from "../base/memo.ts";

/** The names that a server on the loopback interface answers to, beside the loopback names. */
export interface ServedNames {
  /** The host of `server.listen`. */
  readonly listenHost: string;
  readonly externalUrl: string | null;
}

/**
 * Returns the refusal of a request that names a foreign host to a server on the loopback interface; null: it is
 * allowed. Otherwise a foreign site whose name resolves to 127.0.0.1 could read everything (DNS rebinding). Browsers
 * always send `Host`.
 */
export function refuseForeignHost(host: string | undefined, names: ServedNames): string | null {
  if (host === undefined) return null;
  const hostname = hostnameOf(host);
  const own = [hostnameOf(names.listenHost), hostnameOfUrl(names.externalUrl ?? "")];
  if (hostname !== null && (isLoopbackHost(hostname) || own.includes(hostname))) return null;
  const shown = JSON.stringify(host.slice(0, longestShown));
  return (
    `flatline listens on this machine only and does not answer to the name ${shown}: ` +
    "use localhost or 127.0.0.1, or set alerting.externalUrl to the address that it is reached by"
  );
}

// A DNS name has at most 253 characters.
const longestShown = 253;

// Each request asks three times for the same few names.
const keptNames = 64;
const hostnameOfUrl = memoized(keptNames, (url: string) => URL.parse(url)?.hostname ?? null);
const hostnameOf = memoized(keptNames, (host: string) =>
  /^[^@/?#\\]+$/.test(host) ? hostnameOfUrl(`http://${host}`) : null,
);

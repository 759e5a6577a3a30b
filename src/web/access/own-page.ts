import type { IncomingMessage } from "node:http";

/**
 * Returns whether the page that sent the request is flatline's own: no other site may act with a cookie that the browser adds
 * by itself. `isHostEnough`: its page may also be of the host that the request names, not only of `externalUrl`.
 */
export function isFromOwnPage(
  { headers }: Pick<IncomingMessage, "headers">,
  externalUrl: string | null,
  { isHostEnough }: { readonly isHostEnough: boolean },
): boolean {
  if (headers["sec-fetch-site"] === "same-origin") return true;
  const origin = headers.origin === undefined ? null : URL.parse(headers.origin);
  if (origin === null) return false;
  const external = externalUrl === null ? null : new URL(externalUrl);
  if (!isHostEnough) return origin.origin === external?.origin;
  return origin.host !== "" && (origin.host === external?.host || isHostOf(origin, headers.host));
}

/** Returns whether a `Host` header names the host and port of an address. */
export function isHostOf(url: URL, host: string | undefined): boolean {
  // The port of the scheme may be there or not.
  return host !== undefined && URL.parse(`${url.protocol}//${host}`)?.host === url.host;
}

import type { IncomingMessage } from "node:http";

/**
 * Returns whether a page of flatline sent the request: browsers add cookies to requests of other sites, too.
 * `isHostEnough`: the page may be at the request's own host, not only at `externalUrl`.
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
  // An address may have its scheme's default port, or leave it out.
  return host !== undefined && URL.parse(`${url.protocol}//${host}`)?.host === url.host;
}

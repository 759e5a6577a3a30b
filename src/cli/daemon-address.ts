import { FlatlineError } from "../base/errors.ts";
import { isLoopbackHost } from "../base/loopback-host.ts";

/** Returns the URL of a daemon that listens at `listen` (host:port); a wildcard address becomes the loopback address. */
export function daemonUrl(listen: string): string {
  const reachable = listen
    .replace(/^0\.0\.0\.0:/, "127.0.0.1:")
    .replace(/^\[::\]:/, "[::1]:")
    .replace(/^:/, "127.0.0.1:");
  return `http://${reachable}`;
}

/** Parses an address that a person gave by `from`, without a trailing slash. @throws usage if it is not a URL of http or https */
export function parseDaemonUrl(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new FlatlineError("usage", `${from} must be the address of a flatline, such as http://127.0.0.1:9640`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** Returns whether the host of `url` is this machine, which must not be reached through a proxy. */
export function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

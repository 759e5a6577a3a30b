import { isIP } from "node:net";

import type { Clock } from "../../base/time.ts";
import { secondMs } from "../../base/time.ts";
import { isInRanges, isPublicAddress, rangesOf } from "../addresses.ts";
import { classifyPage, isSinkhole, titleOf } from "../classify.ts";
import { hostOf, portOf, redirectOf, urlRefusal } from "../names.ts";
import type { ProbeRequest, ProberSettings, ProbeResult } from "./exchange.ts";
import { fetchPage, type FetchedPage } from "./fetch-page.ts";
import { resolveName, type Resolved } from "./resolve.ts";

// CONTRACT 16.
const mostRedirects = 3;
const dnsTimeoutMs = 10 * secondMs;

/**
 * Creates the look at one asset: what its URLs answer, one after the other until one says something. Each name is resolved once for
 * all of it, redirects and both schemes, so that no second answer of its server can lead elsewhere than the first, which was checked.
 */
export function createLookAt(
  settings: ProberSettings,
  clock: Clock,
): (request: Pick<ProbeRequest, "urls" | "isDnsOnly">) => Promise<ProbeResult> {
  const hosts = new Set(settings.hosts);
  const allowed = rangesOf(settings.allow);
  const { http, dnsServers } = settings;
  const timeoutMs = http?.timeoutMs ?? dnsTimeoutMs;

  const isAllowed = (address: string): boolean => isInRanges(allowed, address);

  async function follow(
    first: string,
    isDnsOnly: boolean,
    names: Map<string, Promise<Resolved>>,
  ): Promise<ProbeResult> {
    const signal = clock.timeout(timeoutMs);
    const urls: string[] = [];
    let next = { written: first, url: new URL(first) };
    for (;;) {
      const { written, url } = next;
      if (urlRefusal(written, url, hosts) !== null) return undecided("name");
      const host = hostOf(url);
      const resolved: Resolved =
        isIP(host) === 0
          ? await remembered(names, host, async () => resolveName(host, dnsServers, timeoutMs))
          : { kind: "addresses", addresses: [host] };
      // A page that redirects to a name that is gone exists.
      if (resolved.kind === "gone" && urls.length === 0)
        return { ...undecided("resolver"), answer: "gone", reason: null };
      if (resolved.kind !== "addresses") return undecided("resolver");
      const { addresses } = resolved;
      if (!addresses.every((address) => isAllowed(address) || isPublicAddress(address))) return undecided("address");
      if (addresses.some(isSinkhole)) return { ...undecided("address"), answer: "parked", reason: null };
      if (isDnsOnly || http === null) return { ...undecided("address"), reason: null };
      if (![80, 443].includes(portOf(url)) && !addresses.every(isAllowed)) return undecided("port");
      const address = addresses.find((one) => isIP(one) === 4) ?? addresses[0] ?? "";
      urls.push(url.href);
      const page = await orNull(fetchPage(url, address, { ...http, proxy: new URL(http.proxy), signal }));
      if (page === null) return undecided("connection");
      const redirect = redirectFrom(page, url);
      const seen = { status: page.status, title: titleOf(page.body), bytes: page.bytes };
      if (redirect === null) return { ...seen, answer: classifyPage({ ...page, urls }), reason: null };
      if (urls.length > mostRedirects) return { ...seen, answer: "undecided", reason: "redirects" };
      next = redirect;
    }
  }

  return async ({ urls, isDnsOnly }) => {
    const names = new Map<string, Promise<Resolved>>();
    let result = undecided("name");
    for (const url of urls) {
      if (URL.canParse(url)) result = await follow(url, isDnsOnly, names);
      if (result.answer !== "undecided" || isDnsOnly) break;
    }
    return result;
  };
}

function undecided(reason: NonNullable<ProbeResult["reason"]>): ProbeResult {
  return { answer: "undecided", status: null, title: null, bytes: null, reason };
}

function redirectFrom({ status, headers }: FetchedPage, from: URL): ReturnType<typeof redirectOf> {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null;
  // Node.js reads headers as Latin-1; what is beyond ASCII in them is UTF-8 (as browsers take it).
  return redirectOf(Buffer.from(location, "latin1").toString(), from);
}

async function remembered(
  names: Map<string, Promise<Resolved>>,
  host: string,
  resolve: () => Promise<Resolved>,
): Promise<Resolved> {
  const known = names.get(host) ?? resolve();
  names.set(host, known);
  return known;
}

async function orNull(page: Promise<FetchedPage>): Promise<FetchedPage | null> {
  try {
    return await page;
  } catch {
    return null;
  }
}

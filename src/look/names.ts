import { isIP } from "node:net";

/** An asset's name as something that can be looked at. */
export interface LookTarget {
  /** In lower case and without a final dot, of an IPv6 address without brackets: what counts as one host for all limits. */
  readonly host: string;
  /** What to ask, one after the other until one answers: a URL, or of a bare host name its two. */
  readonly urls: readonly string[];
  /** It may name a victim, so that it is asked by DNS only. */
  readonly isPersonal: boolean;
}

// As long as URLs are that browsers and proxies take; what is longer is not looked at, so that no name costs more than this.
const longestName = 2_048;

/** Returns the asset as a target; null when its name is longer than 2,048 characters, or neither an http(s) URL nor a host name. */
export function targetOf(name: string): LookTarget | null {
  if (name.length > longestName) return null;
  const trimmed = name.trim();
  if (/^https?:\/\//i.test(trimmed)) {
    const url = URL.canParse(trimmed) ? new URL(trimmed) : null;
    if (url === null || url.hostname === "") return null;
    // As it was written: what an address is disguised as is seen there only.
    return { host: hostOf(url), urls: [trimmed], isPersonal: isPersonal(trimmed, url) };
  }
  const [, last = ""] = /^(?:[\p{L}\p{N}_-]+\.)+([\p{L}\p{N}-]+)\.?$/u.exec(trimmed) ?? [];
  // Digits alone are no host name: that is how an address is written as one number.
  if (!/\p{L}/u.test(last)) return null;
  const urls = ["https", "http"].map((scheme) => `${scheme}://${trimmed}/`);
  const [first = ""] = urls;
  if (!URL.canParse(first)) return null;
  const host = hostOf(new URL(first));
  return isIP(host) === 0 ? { host, urls, isPersonal: false } : null;
}

/** Returns the host of a URL, as `LookTarget.host` has it. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/\.$/, "").replace(/^\[(.*)\]$/, "$1");
}

/** Why a URL must not be asked, whatever it resolves to. */
export type UrlRefusal = "scheme" | "userinfo" | "host" | "disguised";

/**
 * Returns why a URL must not be asked (CONTRACT 16), null when its host's addresses decide. `written` is the absolute URL as it was
 * written; `hosts` are those of the configuration, as `hostOf` has them.
 */
export function urlRefusal(written: string, url: URL, hosts: ReadonlySet<string>): UrlRefusal | null {
  if (url.protocol !== "http:" && url.protocol !== "https:") return "scheme";
  if (url.username !== "" || url.password !== "") return "userinfo";
  const host = hostOf(url);
  if (host === "" || hosts.has(host)) return "host";
  // Octal, hexadecimal, short or one number: who writes an address so hides it from someone.
  if (isIP(host) === 4 && !written.toLowerCase().startsWith(`${url.protocol}//${host}`)) return "disguised";
  return null;
}

/** Returns where a redirect leads: the URL, and how it was written; null when it is none. */
export function redirectOf(location: string, from: URL): { readonly written: string; readonly url: URL } | null {
  if (!URL.canParse(location, from.href)) return null;
  const url = new URL(location, from);
  if (location.startsWith("//")) return { written: `${from.protocol}${location}`, url };
  return { written: /^[a-z][a-z\d+.-]*:/i.test(location) ? location : url.href, url };
}

/** The port that a URL asks for. */
export function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

// CONTRACT 16: short enough for an id in base 64 or a UUID, longer than what people write.
const leastIdLength = 24;

/** Whether a URL may say who it was sent to. What follows `#` is sent to no server, but to the verifier. */
function isPersonal(written: string, url: URL): boolean {
  if (/@|%40/i.test(written)) return true;
  const parts = [...url.pathname.split("/"), ...[...url.searchParams].flat(), ...url.hash.slice(1).split(/[/&=?]/)];
  return parts.some((part) => {
    const count = part.replaceAll(/[^\p{L}\p{N}]/gu, "").length;
    return count >= leastIdLength && /\p{L}/u.test(part) && /\p{N}/u.test(part);
  });
}

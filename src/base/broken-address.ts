/** Returns an address that nothing makes a link of (CONTRACT 12): `hxxps://acme[.]example/a`; a broken one stays. */
export function breakAddress(address: string): string {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*(?::|\[:\])\/\/)?(.*)$/is.exec(address) ?? [];
  // Not at a backslash: programs differ about what follows one.
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const tail = end === -1 ? "" : rest.slice(end);
  // A mail address keeps the dots before its @. Those of a URL are broken too: some programs read its user part as a host.
  const hostFrom = scheme === "" ? (/^.*(?:@|\[at\])/s.exec(authority)?.[0].length ?? 0) : 0;
  const broken = authority.slice(0, hostFrom) + breakDots(authority.slice(hostFrom)) + tail;
  return breakScheme(scheme) + broken.replaceAll("@", "[at]");
}

// Without a limit, a scheme would be looked for from each letter of a long word.
const scheme = /[a-z][a-z0-9+.-]{0,30}:\/\//.source;
// An address ends where the next one begins: `(https://a.example)(https://b.example)` has two.
const urls = new RegExp(String.raw`${scheme}(?:(?:(?!${scheme})[^\s<>"])+|(?=${scheme}))`, "gi");

/** Returns the text with every URL that has a scheme broken, but those of `ownOrigins`: people may follow these. */
export function breakAddresses(text: string, ownOrigins: readonly string[] = []): string {
  return text.replaceAll(urls, (url) => (ownOrigins.some((origin) => isOf(origin, url)) ? url : breakAddress(url)));
}

/** Returns the origins, for {@link breakAddresses}, of addresses of http or https or of templates of one; null is none. */
export function ownOrigins(...addresses: readonly (string | null)[]): string[] {
  const origins = addresses.flatMap((address) => {
    if (address === null || !URL.canParse(address)) return [];
    const { origin, protocol } = new URL(address);
    return protocol === "http:" || protocol === "https:" ? [origin] : [];
  });
  return [...new Set(origins)];
}

function isOf(origin: string, url: string): boolean {
  const tail = url.slice(origin.length);
  return url.startsWith(origin) && /^(?:$|[/?#])/.test(tail) && !tail.includes("\\");
}

function breakScheme(scheme: string): string {
  const http = /^h(?:tt|xx)p(s?):\/\/$/i.exec(scheme);
  return http === null ? scheme.replace(/(?<!\[):\/\//, "[:]//") : `hxxp${http[1]?.toLowerCase() ?? ""}://`;
}

/** The dots that are not broken yet. */
function breakDots(host: string): string {
  return host.replaceAll(/(?<!\[)\.(?!\])/g, "[.]");
}

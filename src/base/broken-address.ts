/** Returns an address that no program turns into a link: `hxxps://acme[.]example/a` (CONTRACT 12). Idempotent. */
export function breakAddress(address: string): string {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*(?::|\[:\])\/\/)?(.*)$/is.exec(address) ?? [];
  // A backslash does not end the host: programs read it differently.
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const tail = end === -1 ? "" : rest.slice(end);
  // A mail address keeps the dots before its @. A URL does not: some programs read its user part as a host.
  const hostFrom = scheme === "" ? (/^.*(?:@|\[at\])/s.exec(authority)?.[0].length ?? 0) : 0;
  // Dots that are broken already stay.
  const host = authority.slice(hostFrom).replaceAll(/(?<!\[)\.(?!\])/g, "[.]");
  const broken = authority.slice(0, hostFrom) + host + tail;
  return breakScheme(scheme) + broken.replaceAll("@", "[at]");
}

// The limit keeps the search linear in a long word.
const scheme = /[a-z][a-z0-9+.-]{0,30}:\/\//.source;
// An address ends where the next one begins: `(https://a.example)(https://b.example)` has two.
const urls = new RegExp(String.raw`${scheme}(?:(?:(?!${scheme})[^\s<>"])+|(?=${scheme}))`, "gi");

/** Breaks every URL in the text, except those of `ownOrigins`, which people may follow. */
export function breakAddresses(text: string, ownOrigins: readonly string[] = []): string {
  return text.replaceAll(urls, (url) => (ownOrigins.some((origin) => isOf(origin, url)) ? url : breakAddress(url)));
}

/** Returns the http and https origins of addresses or templates, for {@link breakAddresses}; null gives none. */
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

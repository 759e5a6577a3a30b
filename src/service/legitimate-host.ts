import { domainToASCII } from "node:url";

// RFC 1035, 2.3.4: 253 characters are at most 127 labels.
const mostLabels = 127;

/**
 * The host that legitimacy rules look at: of URL and PAGE assets that of the address, of EMAIL the domain; null for other
 * types and for content without one. ASCII, lower case, without a trailing dot, as rules are stored.
 */
export function ruledHost(asset: { readonly type: string; readonly content: string }): string | null {
  // Reports often carry addresses that were made unclickable.
  const content = asset.content.trim().replaceAll("[.]", ".");
  switch (asset.type) {
    case "URL":
    case "PAGE":
      return hostOfAddress(content);
    case "EMAIL":
      return hostOfEmail(content);
    default:
      return null;
  }
}

/** The domains above a host: `example.org` and `org` of `a.example.org`. None above an IP address. */
export function parentDomains(host: string): readonly string[] {
  if (/^[\d.]+$/.test(host) || host.startsWith("[")) return [];
  const labels = host.split(".").slice(-mostLabels - 1);
  return labels.slice(1).map((_label, index) => labels.slice(index + 1).join("."));
}

/** A domain as it is stored and compared: ASCII (punycode), lower case, no trailing dot; null when it is none. */
export function normalizeDomain(text: string): string | null {
  const ascii = domainToASCII(text.trim().toLowerCase()).replace(/\.+$/, "");
  return ascii.length <= 253 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(ascii) ? ascii : null;
}

function hostOfAddress(content: string): string | null {
  const url = URL.parse(withHttp(content));
  if (url !== null) return url.hostname === "" ? null : url.hostname.replace(/\.+$/, "");
  // Not a URL by the standard, as one with an impossible port; its host may still be plain to see.
  const authority = /^http:[/\\]*([^/\\?#]*)/.exec(withHttp(content))?.[1] ?? "";
  return normalizeDomain(authority.slice(authority.lastIndexOf("@") + 1).replace(/:[^:]*$/, ""));
}

/** The address under the one scheme whose host the URL standard reads as a domain. */
function withHttp(content: string): string {
  const known = /^(?:h(?:tt|xx)ps?|ftp|wss?):/i.exec(content)?.[0];
  if (known !== undefined) return `http:${content.slice(known.length)}`;
  const foreign = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(content)?.[0];
  if (foreign !== undefined) return `http:${content.slice(foreign.length)}`;
  return `http://${content.replace(/^[/\\]+/, "")}`;
}

function hostOfEmail(content: string): string | null {
  const address = content.replace(/^mailto:/i, "").replace(/[?>].*$/s, "");
  return normalizeDomain(address.slice(address.lastIndexOf("@") + 1));
}

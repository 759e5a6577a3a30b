import { domainToASCII } from "node:url";

// RFC 1035, 2.3.4: 253 characters are at most 127 labels.
const mostLabels = 127;

/**
 * Returns the host that legitimacy rules compare: that of a URL or PAGE, the domain of an EMAIL; null: another type, or
 * no host. ASCII, lower case, without a trailing dot, as rules are stored.
 */
export function ruledHost(asset: { readonly type: string; readonly content: string }): string | null {
  // Reports often contain defanged addresses.
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

/** Returns the parent domains of a host: `example.org` and `org` for `a.example.org`; none for an IP address. */
export function parentDomains(host: string): readonly string[] {
  if (/^[\d.]+$/.test(host) || host.startsWith("[")) return [];
  const labels = host.split(".").slice(-mostLabels - 1);
  return labels.slice(1).map((_label, index) => labels.slice(index + 1).join("."));
}

/** Returns a domain as it is stored: ASCII (punycode), lower case, no trailing dot; null: it is invalid. */
export function normalizeDomain(text: string): string | null {
  const ascii = domainToASCII(text.trim().toLowerCase()).replace(/\.+$/, "");
  return ascii.length <= 253 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(ascii) ? ascii : null;
}

function hostOfAddress(content: string): string | null {
  const url = URL.parse(withHttp(content));
  if (url !== null) return url.hostname === "" ? null : url.hostname.replace(/\.+$/, "");
  // No valid URL, for example because of its port; the host may still be readable.
  const authority = /^http:[/\\]*([^/\\?#]*)/.exec(withHttp(content))?.[1] ?? "";
  return normalizeDomain(authority.slice(authority.lastIndexOf("@") + 1).replace(/:[^:]*$/, ""));
}

/** The URL standard parses the host of http: as a domain. */
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

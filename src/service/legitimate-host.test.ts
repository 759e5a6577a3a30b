import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { normalizeDomain, parentDomains, ruledHost } from "./legitimate-host.ts";

describe("ruledHost", () => {
  it.each([
    ["of a URL its host", "URL", "https://acme.example/login?a=b#c", "acme.example"],
    ["of a PAGE its host", "PAGE", "http://acme.example", "acme.example"],
    ["without a scheme", "URL", "acme.example/login", "acme.example"],
    ["without a scheme, with a port", "URL", "acme.example:8443/x", "acme.example"],
    ["relative to a scheme", "URL", "//acme.example/x", "acme.example"],
    ["with a port", "URL", "https://acme.example:8443", "acme.example"],
    ["with an impossible port", "URL", "https://acme.example:99999/x", "acme.example"],
    ["behind a user name that looks like a host", "URL", "https://good.example@evil.example/", "evil.example"],
    ["behind user name and password", "URL", "https://a:b@acme.example/", "acme.example"],
    ["not from the path", "URL", "https://evil.example/@good.example", "evil.example"],
    ["not from the query", "URL", "https://evil.example?@good.example", "evil.example"],
    ["not from the fragment", "URL", "https://evil.example#@good.example", "evil.example"],
    ["a backslash ends it", "URL", "https://evil.example\\@good.example", "evil.example"],
    ["in lower case", "URL", "HTTPS://ACME.Example/", "acme.example"],
    ["without a trailing dot", "URL", "https://acme.example./", "acme.example"],
    ["an international one as punycode", "URL", "https://bücher.example/", "xn--bcher-kva.example"],
    ["a full-width one as ASCII", "URL", "https://ａｃｍｅ.example", "acme.example"],
    ["with another scheme", "URL", "ipns://Bücher.example/x", "xn--bcher-kva.example"],
    ["made unclickable", "URL", "hxxps://acme[.]example/x", "acme.example"],
    ["with spaces around", "URL", "  https://acme.example/ \n", "acme.example"],
    ["of an IP address the address", "URL", "http://127.1/", "127.0.0.1"],
    ["of an EMAIL its domain", "EMAIL", "kim@Acme.example", "acme.example"],
    ["behind the last @", "EMAIL", '"a@good.example"@evil.example', "evil.example"],
    ["of an address with a name", "EMAIL", "Kim <kim@acme.example>", "acme.example"],
    ["of a mailto", "EMAIL", "mailto:kim@acme.example?subject=a@b.example", "acme.example"],
    ["of an international mail domain", "EMAIL", "kim@bücher.example.", "xn--bcher-kva.example"],
    ["of nothing that is a host", "URL", "not a url", null],
    ["of an empty authority", "URL", "https://", null],
    ["of an EMAIL without a domain", "EMAIL", "kim@", null],
    ["of other types none", "TWITTER", "https://acme.example/", null],
  ])("reads it %s", (_rule, type, content, host) => {
    expect(ruledHost({ type, content })).toBe(host);
  });

  it("is a domain or none for any content, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("URL", "PAGE", "EMAIL"), (content, type) => {
        const host = ruledHost({ type, content });

        expect(host === null || (host !== "" && !host.endsWith(".") && host === host.toLowerCase())).toBe(true);
      }),
    );
  });
});

describe("parentDomains", () => {
  it.each([
    { host: "a.b.acme.example", parents: ["b.acme.example", "acme.example", "example"] },
    { host: "example", parents: [] },
    { host: "127.0.0.1", parents: [] },
    { host: "[::1]", parents: [] },
  ])("of $host", ({ host, parents }) => {
    expect(parentDomains(host)).toEqual(parents);
  });
});

describe("normalizeDomain", () => {
  it.each([
    ["Acme.Example.", "acme.example"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["*.acme.example", null],
    ["https://acme.example", null],
    ["acme..example", null],
    ["", null],
    ["a b", null],
  ])("of %j is %j", (text, domain) => {
    expect(normalizeDomain(text)).toBe(domain);
  });
});

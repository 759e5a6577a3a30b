import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { normalizeDomain, parentDomains, ruledHost } from "./legitimate-host.ts";

describe("ruledHost", () => {
  it.each([
    { rule: "of a URL its host", type: "URL", content: "https://acme.example/login?a=b#c", host: "acme.example" },
    { rule: "of a PAGE its host", type: "PAGE", content: "http://acme.example", host: "acme.example" },
    { rule: "without a scheme", type: "URL", content: "acme.example/login", host: "acme.example" },
    { rule: "without a scheme, with a port", type: "URL", content: "acme.example:8443/x", host: "acme.example" },
    { rule: "relative to a scheme", type: "URL", content: "//acme.example/x", host: "acme.example" },
    { rule: "with a port", type: "URL", content: "https://acme.example:8443", host: "acme.example" },
    { rule: "with an impossible port", type: "URL", content: "https://acme.example:99999/x", host: "acme.example" },
    {
      rule: "behind a user name that looks like a host",
      type: "URL",
      content: "https://good.example@evil.example/",
      host: "evil.example",
    },
    { rule: "behind user name and password", type: "URL", content: "https://a:b@acme.example/", host: "acme.example" },
    { rule: "not from the path", type: "URL", content: "https://evil.example/@good.example", host: "evil.example" },
    { rule: "not from the query", type: "URL", content: "https://evil.example?@good.example", host: "evil.example" },
    { rule: "not from the fragment", type: "URL", content: "https://evil.example#@good.example", host: "evil.example" },
    { rule: "a backslash ends it", type: "URL", content: "https://evil.example\\@good.example", host: "evil.example" },
    { rule: "in lower case", type: "URL", content: "HTTPS://ACME.Example/", host: "acme.example" },
    { rule: "without a trailing dot", type: "URL", content: "https://acme.example./", host: "acme.example" },
    {
      rule: "an international one as punycode",
      type: "URL",
      content: "https://bücher.example/",
      host: "xn--bcher-kva.example",
    },
    { rule: "a full-width one as ASCII", type: "URL", content: "https://ａｃｍｅ.example", host: "acme.example" },
    { rule: "with another scheme", type: "URL", content: "ipns://Bücher.example/x", host: "xn--bcher-kva.example" },
    { rule: "made unclickable", type: "URL", content: "hxxps://acme[.]example/x", host: "acme.example" },
    { rule: "with spaces around", type: "URL", content: "  https://acme.example/ \n", host: "acme.example" },
    { rule: "of an IP address the address", type: "URL", content: "http://127.1/", host: "127.0.0.1" },
    { rule: "of an EMAIL its domain", type: "EMAIL", content: "kim@Acme.example", host: "acme.example" },
    { rule: "behind the last @", type: "EMAIL", content: '"a@good.example"@evil.example', host: "evil.example" },
    { rule: "of an address with a name", type: "EMAIL", content: "Kim <kim@acme.example>", host: "acme.example" },
    {
      rule: "of a mailto",
      type: "EMAIL",
      content: "mailto:kim@acme.example?subject=a@b.example",
      host: "acme.example",
    },
    {
      rule: "of an international mail domain",
      type: "EMAIL",
      content: "kim@bücher.example.",
      host: "xn--bcher-kva.example",
    },
    { rule: "of nothing that is a host", type: "URL", content: "not a url", host: null },
    { rule: "of an empty authority", type: "URL", content: "https://", host: null },
    { rule: "of an EMAIL without a domain", type: "EMAIL", content: "kim@", host: null },
    { rule: "of other types none", type: "TWITTER", content: "https://acme.example/", host: null },
  ])("reads it $rule", ({ type, content, host }) => {
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

import { describe, expect, it } from "vitest";

import { portOf, redirectOf, targetOf, urlRefusal } from "./names.ts";

describe("targetOf", () => {
  it("asks a URL as it is written", () => {
    expect(targetOf("HTTPS://Login.Example.com./a?b=c")).toStrictEqual({
      host: "login.example.com",
      urls: ["HTTPS://Login.Example.com./a?b=c"],
      isPersonal: false,
    });
  });

  it("asks a bare host name by https, then by http", () => {
    expect(targetOf("bücher.example")).toStrictEqual({
      host: "xn--bcher-kva.example",
      urls: ["https://bücher.example/", "http://bücher.example/"],
      isPersonal: false,
    });
  });

  it.each([
    "",
    "hello",
    "two words.example",
    "8.8.8.8",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "ftp://example.com/",
    "a/b.example",
    "someone@example.com",
    "-",
    "https://",
    "http://[/",
    "１２７.0.0.1",
  ])("does not look at %j", (name) => {
    expect(targetOf(name)).toBeNull();
  });

  it("looks at names of 2,048 characters and at none that is longer", () => {
    const long = "https://a.example/".padEnd(2_048, "a/");

    expect(targetOf(long)?.host).toBe("a.example");
    expect(targetOf(`${long}a`)).toBeNull();
    expect(targetOf(`a.${"b".repeat(14_000)}!`)).toBeNull();
  });

  it.each([
    ["a token in the path", "https://a.example/x/4f2a9c8e7b6d5a4f3c2b1a09"],
    ["a UUID", "https://a.example/550e8400-e29b-41d4-a716-446655440000"],
    ["a token in the query", "https://a.example/?t=dXNlckBleGFtcGxlLm9yZw42"],
    ["a token as the query", "https://a.example/?dXNlckBleGFtcGxlLm9yZw42"],
    ["a token after the number sign", "https://a.example/#/dXNlckBleGFtcGxlLm9yZw42"],
    ["an at sign", "https://a.example/?m=user@example.org"],
    ["an encoded at sign", "https://a.example/?m=user%40example.org"],
    ["an at sign after the number sign", "https://a.example/#user@example.org"],
    ["an at sign before the host", "https://user@a.example/"],
  ])("takes %s for what may name a victim", (_, name) => {
    expect(targetOf(name)?.isPersonal).toBe(true);
  });

  it.each([
    ["a long word", "https://a.example/internationalizationandlocalization"],
    ["a long number", "https://a.example/?t=123456789012345678901234567890"],
    ["twenty-three characters", "https://a.example/4f2a9c8e7b6d5a4f3c2b1a0"],
  ])("does not take %s for it", (_, name) => {
    expect(targetOf(name)?.isPersonal).toBe(false);
  });
});

describe("urlRefusal", () => {
  const hosts = new Set(["api.platform.example", "proxy", "::1"]);

  it.each([
    ["https://a.example/", null],
    ["https://8.8.8.8/", null],
    ["https://[2001:4860:4860::8888]/", null],
    ["https://a.example:8080/", null],
    ["ftp://a.example/", "scheme"],
    ["data:text/html,x", "scheme"],
    ["https://u@a.example/", "userinfo"],
    ["https://:p@a.example/", "userinfo"],
    ["https://API.platform.example./x", "host"],
    ["http://proxy:3128/", "host"],
    ["http://[::1]/", "host"],
    ["http://0x8080808/", "disguised"],
    ["http://134744072/", "disguised"],
    ["http://134744072/?8.8.8.8", "disguised"],
    ["http://010.8.8.8/", "disguised"],
    ["http://8.8.2056/", "disguised"],
    ["http://８.8.8.8/", "disguised"],
  ])("judges %s as %s", (written, refusal) => {
    expect(urlRefusal(written, new URL(written), hosts)).toBe(refusal);
  });
});

describe("redirectOf", () => {
  const from = new URL("https://a.example/x/y");

  it.each([
    ["/b", "https://a.example/b"],
    ["b?c", "https://a.example/x/b?c"],
    ["//0x8080808/b", "https://0x8080808/b"],
    ["\\\\134744072\\b", "https://8.8.8.8/b"],
    ["http://010.8.8.8/", "http://010.8.8.8/"],
    ["javascript:alert(1)", "javascript:alert(1)"],
  ])("keeps how %s was written", (location, written) => {
    expect(redirectOf(location, from)?.written).toBe(written);
  });

  it("is null for what is no URL", () => {
    expect(redirectOf("http://[::ffff:1.2.3.4", from)).toBeNull();
  });
});

describe("portOf", () => {
  it.each([
    ["http://a.example/", 80],
    ["https://a.example/", 443],
    ["https://a.example:80/", 80],
    ["http://a.example:25/", 25],
  ])("of %s is %d", (url, port) => {
    expect(portOf(new URL(url))).toBe(port);
  });
});

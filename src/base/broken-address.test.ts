import { describe, expect, it } from "vitest";

import { breakAddress, breakAddresses, ownOrigins } from "./broken-address.ts";

describe("an address", () => {
  it.each([
    ["https://login.acme.example/a.b?c=d.e#f.g", "hxxps://login[.]acme[.]example/a.b?c=d.e#f.g"],
    ["HTTPS://Acme.Example:8443/", "hxxps://Acme[.]Example:8443/"],
    ["tg+x.y://acme.example", "tg+x.y[:]//acme[.]example"],
    ["login.acme.example/path.html", "login[.]acme[.]example/path.html"],
    ["kim.doe@acme.example", "kim.doe[at]acme[.]example"],
    ["https://kim@acme.example/@kim", "hxxps://kim[at]acme[.]example/[at]kim"],
    ["https://app.example\\@evil.example", "hxxps://app[.]example\\[at]evil[.]example"],
    ["@acme_support", "[at]acme_support"],
    ["203.0.113.7", "203[.]0[.]113[.]7"],
  ])("%s is shown as %s", (address, broken) => {
    expect(breakAddress(address)).toBe(broken);
  });
});

describe("a text", () => {
  const own = ["https://app.example.com", "https://flatline.example.com:9640"];

  it.each([
    ["see https://evil.example/a, now", "see hxxps://evil[.]example/a, now"],
    ["open https://app.example.com/o/acme.", "open https://app.example.com/o/acme."],
    ["https://flatline.example.com:9640", "https://flatline.example.com:9640"],
    ["https://app.example.com.evil.example", "hxxps://app[.]example[.]com[.]evil[.]example"],
    ["https://app.example.com@evil.example", "hxxps://app[.]example[.]com[at]evil[.]example"],
    ["https://app.example.com/\\@evil.example", "hxxps://app[.]example[.]com/\\[at]evil.example"],
    ["http://app.example.com/", "hxxp://app[.]example[.]com/"],
    [
      "5,119 deaths at 09:40: version 1.2.3, kim@acme.example",
      "5,119 deaths at 09:40: version 1.2.3, kim@acme.example",
    ],
    ["(https://a.example/x)(https://b.example/y)", "(hxxps://a[.]example/x)(hxxps://b[.]example/y)"],
    ["https://app.example.com/?to=https://evil.example", "https://app.example.com/?to=hxxps://evil[.]example"],
    ["it begins with https:// or http://", "it begins with https:// or http://"],
  ])("%s is shown as %s", (text, shown) => {
    expect(breakAddresses(text, own)).toBe(shown);
  });

  it.each([
    ["https://app.example.com/o/{slug}", ["https://app.example.com"]],
    ["http://localhost:9640/", ["http://localhost:9640"]],
    ["javascript:alert(1)", []],
    ["nothing", []],
    [null, []],
  ])("the origin of %s is %j", (address, origins) => {
    expect(ownOrigins(address, address)).toEqual(origins);
  });
});

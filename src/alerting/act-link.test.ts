import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { oddText } from "../../test/support/odd-input.ts";
import { Secret } from "../base/secret.ts";
import { linkLifeMs, readActLink, signActLink, type GivenLink } from "./act-link.ts";

const secret = new Secret("a-secret-of-16-bytes");
const nowMs = Date.UTC(2026, 0, 15, 12);
const link = { incident: 41, receiver: "ops & co", expiresAtMs: nowMs + linkLifeMs };

function given(path = signActLink(secret, link)): GivenLink {
  const { pathname, searchParams } = new URL(path, "https://flatline.example");
  const [, , , incident = ""] = pathname.split("/");
  const of = (name: string): string => searchParams.get(name) ?? "";
  return { incident, receiver: of("receiver"), until: of("until"), signature: of("signature") };
}

describe("a signed link", () => {
  it("is read as it was signed, until 24 h after the attempt that sent it", () => {
    expect(readActLink(secret, given(), nowMs)).toMatchObject(link);
    expect(readActLink(secret, given(), nowMs + linkLifeMs - 1)).toMatchObject(link);
    expect(readActLink(secret, given(), nowMs + linkLifeMs)).toBe("expired");
  });

  it("has an id that is the same each time and is not the signature", () => {
    const ids = [0, 1]
      .map((ms) => readActLink(secret, given(), nowMs + ms))
      .map((one) => (typeof one === "string" ? one : one.id));

    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe(given().signature);
  });

  it("is altered under another secret", () => {
    expect(readActLink(new Secret("another-secret-of-16"), given(), nowMs)).toBe("altered");
  });
});

it("any part of a signed link that is changed makes it an altered one", () => {
  const whole = given();
  const part = fc.constantFrom(...(Object.keys(whole) as (keyof GivenLink)[]));
  const change = part.chain((name) => oddText([whole[name]]).map((text) => ({ ...whole, [name]: text })));
  fc.assert(
    fc.property(change, (link) => {
      fc.pre(Object.entries(link).some(([name, text]) => text !== whole[name as keyof GivenLink]));

      expect(readActLink(secret, link, nowMs)).toBe("altered");
      // A forger does not learn that the link is too old.
      expect(readActLink(secret, link, nowMs + 2 * linkLifeMs)).toBe("altered");
    }),
  );
});

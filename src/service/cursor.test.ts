import { randomBytes } from "node:crypto";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createCursorCodec } from "./cursor.ts";

const secret = randomBytes(32);
const codec = createCursorCodec(secret);
const position = { createdAtMs: Date.UTC(2026, 10, 1), id: 9_001 };
const badRequest = expect.objectContaining({ code: "api_bad_request" }) as Error;

describe("the listing's cursor", () => {
  it("opens to the place that it was made of, with the same secret only", () => {
    fc.assert(
      fc.property(
        fc.nat(253_402_300_799_999),
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        (createdAtMs, id) => {
          const cursor = codec.seal("acme", {}, { createdAtMs, id });

          expect(createCursorCodec(secret).open(cursor).position).toEqual({ createdAtMs, id });
          expect(() => createCursorCodec(randomBytes(32)).open(cursor)).toThrow(badRequest);
        },
      ),
    );
  });

  it("is refused with any one character changed to any other", () => {
    const alphabet = "AQgz07-_=é";
    const cursor = codec.seal("acme", {}, position);

    for (let index = 0; index < cursor.length; index++)
      for (const character of alphabet) {
        if (character === cursor[index]) continue;
        const altered = `${cursor.slice(0, index)}${character}${cursor.slice(index + 1)}`;
        expect(() => codec.open(altered), altered).toThrow(badRequest);
      }
  });

  it.each([
    ["nothing", ""],
    ["a short text", "AAAA"],
    ["one with padding", `${codec.seal("acme", {}, position)}=`],
    ["one with more behind it", `${codec.seal("acme", {}, position)}AAAA`],
    ["two in one", codec.seal("acme", {}, position).repeat(2)],
  ])("is refused when it is %s", (_what, cursor) => {
    expect(() => codec.open(cursor)).toThrow(badRequest);
  });

  it("shows nothing of the place or the organization", () => {
    const bytes = Buffer.from(codec.seal("acme", {}, position), "base64url");
    const next = Buffer.from(codec.seal("acme", {}, { ...position, id: position.id + 1 }), "base64url");

    const same = bytes.filter((byte, index) => byte === next[index]).length;
    expect(same).toBeLessThan(bytes.length / 2);
  });

  it.each([
    { rule: "another page size", slug: "acme", query: { limit: 7, country: "US" }, isSame: true },
    { rule: "the organization named or not", slug: "acme", query: { slug: "acme", country: "US" }, isSame: true },
    { rule: "a false flag", slug: "acme", query: { country: "US", onlyRejected: false }, isSame: true },
    { rule: "another organization", slug: "globex", query: { country: "US" }, isSame: false },
    { rule: "a filter more", slug: "acme", query: { country: "US", status: "TODO" }, isSame: false },
  ])("belongs to its listing: $rule", ({ slug, query, isSame }) => {
    const opened = codec.open(codec.seal("acme", { country: "US" }, position));

    if (isSame) expect(() => opened.requireListing(slug, query)).not.toThrow();
    else expect(() => opened.requireListing(slug, query)).toThrow(badRequest);
  });
});

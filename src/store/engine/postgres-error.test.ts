import { describe, expect, it } from "vitest";

import { connectionError } from "./postgres-error.ts";

const failed = (facts: Readonly<Record<string, string>>): Error => Object.assign(new Error("of the driver"), facts);

describe("a connection that failed", () => {
  it.each([
    {
      rule: "the socket of a server that stopped may be back in a moment",
      facts: { code: "ENOENT", syscall: "connect" },
      code: "store_busy",
      says: /is unavailable: of the driver/,
    },
    {
      rule: "a file that the address names and that is missing is not",
      facts: { code: "ENOENT", syscall: "open" },
      code: "store_unusable",
      says: /of the driver/,
    },
    {
      rule: "an authority that is not known says what to set",
      facts: { code: "SELF_SIGNED_CERT_IN_CHAIN" },
      code: "store_unusable",
      says: /sslrootcert=FILE/,
    },
  ])("$rule", ({ facts, code, says }) => {
    expect(connectionError(failed(facts), "db/flatline")).toMatchObject({
      code,
      message: expect.stringMatching(says),
    });
  });
});

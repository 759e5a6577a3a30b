import { describe, expect, it } from "vitest";

import { matches } from "./matching.ts";
import type { Matcher } from "../../contract/silence.ts";

const subject = { slug: "acme-eu", check: "dead-asset-spike", labels: { team: "trust", tier: "1" } };

describe("matches", () => {
  it.each<[string, Matcher, boolean]>([
    ["nothing asked matches all", {}, true],
    ["an exact slug", { slug: "acme-eu" }, true],
    ["exact means the whole of it", { slug: "acme" }, false],
    ["case matters", { slug: "ACME-EU" }, false],
    ["a star for the rest", { slug: "acme-*" }, true],
    ["a star alone for all", { slug: "*" }, true],
    ["a star for nothing", { slug: "acme-eu*" }, true],
    ["stars anywhere", { slug: "*me*e*" }, true],
    ["no character twice", { slug: "acme-e*eu" }, false],
    ["every key has to fit", { slug: "acme-*", check: "review-queue" }, false],
    ["labels, with stars too", { labels: { team: "tr*", tier: "1" } }, true],
    ["a label that the organization lacks", { labels: { region: "*" } }, false],
    ["a label that only the prototype has", { labels: { constructor: "*" } }, false],
    ["an escaped star is none", { slug: String.raw`acme-\*` }, false],
    ["other characters mean themselves", { slug: "acme.eu" }, false],
  ])("%s", (_rule, matcher, expected) => {
    expect(matches(matcher, subject)).toBe(expected);
  });
});

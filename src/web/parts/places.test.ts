import { describe, expect, it } from "vitest";

import type { Place } from "../../contract/v1/places.ts";
import { findPlaces, nearestPlaces } from "./places.ts";

const place = (name: string, words: readonly string[] = []): Place => ({
  name,
  href: `/o/${name}`,
  kind: "organization",
  severity: "ok",
  words,
});
const places = [place("acme"), place("acme-eu"), place("my-acme"), place("northwind-pay", ["team trust"])];

describe("places", () => {
  it.each([
    ["acme", ["acme", "acme-eu", "my-acme"]],
    ["ACM", ["acme", "acme-eu", "my-acme"]],
    ["nwp", ["northwind-pay"]],
    ["trust", ["northwind-pay"]],
    ["pwn", []],
    ["", []],
  ])("%j finds %j", (asked, names) => {
    expect(findPlaces(places, asked, 8).map((one) => one.place.name)).toEqual(names);
  });

  it("name the letters that were asked for", () => {
    expect(findPlaces(places, "nwp", 8)[0]?.letters).toEqual([0, 5, 10]);
  });

  it("are at most as many as are asked for", () => {
    expect(findPlaces(places, "acme", 2)).toHaveLength(2);
  });

  it("that nothing is called so name the nearest", () => {
    expect(nearestPlaces(places, "acmee")).toEqual(["acme", "acme-eu"]);
  });
});

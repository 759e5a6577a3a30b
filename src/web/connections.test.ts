import { describe, expect, it } from "vitest";

import { createPlaces, type Places } from "./connections.ts";

interface Request {
  complete: boolean;
}

const kibibyte = 1_024;

/** Twenty-four places, of which three are for this machine; what each of those in `taken` has taken of what waits for it. */
function someTaken(
  names: readonly string[],
  isLocal = false,
  taken: ReadonlyMap<string, number> = new Map(),
): Places<string, Request> {
  const takenOf = (name: string): number | null => taken.get(name) ?? null;
  const places = createPlaces<string, Request>({ most: 24, mostAnswerBytes: 100 * kibibyte, takenOf });
  for (const name of names) expect(places.take(name, isLocal)).toBeNull();
  return places;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `c${index + 1}`);

describe("createPlaces", () => {
  it("gives the place of the one that has waited the longest", () => {
    const places = someTaken(names(21));

    expect(places.take("new", false)).toBe("c1");
    expect(places.take("newer", false)).toBe("c2");
  });

  it("keeps some places for this machine, which then takes those of others first", () => {
    const places = someTaken(names(21));

    for (const name of ["l1", "l2", "l3"]) expect(places.take(name, true)).toBeNull();
    expect(places.take("l4", true)).toBe("c1");
    expect(places.take("new", false)).toBe("c2");
  });

  it("gives no place of this machine to others, and no place at all where every one is answered", () => {
    const places = someTaken(names(24), true);

    expect(places.take("new", false)).toBe("new");
    expect(places.take("l", true)).toBe("c1");
    for (const name of [...names(24).slice(1), "l"]) places.begin(name, { complete: true });
    expect(places.take("late", true)).toBe("late");
  });

  it("passes over those with a whole request until it is answered, and not over those with a part of one", () => {
    const places = someTaken(names(21));
    const [whole, part] = [{ complete: true }, { complete: false }];
    places.begin("c1", whole);
    places.begin("c2", part);

    expect(places.take("a", false)).toBe("c2");
    expect(places.take("b", false)).toBe("c3");
    places.end("c1", whole);
    // From now on it waits for less long than all others.
    for (const name of [...names(21).slice(3), "a", "b", "c1"]) expect(places.take(`for ${name}`, false)).toBe(name);
  });

  it("knows that a part has become a whole, and that another request on the same connection is not answered yet", () => {
    const places = someTaken(names(21));
    const [first, second] = [{ complete: false }, { complete: true }];
    places.begin("c1", first);
    places.begin("c1", second);
    first.complete = true;
    places.end("c1", second);

    expect(places.take("new", false)).toBe("c2");
  });

  it("has room again after one has left", () => {
    const places = someTaken(names(21));

    places.leave("c7");

    expect(places.take("new", false)).toBeNull();
    expect(places.take("newer", false)).toBe("c1");
  });

  it("gives the place of one that takes nothing of its answer where all have a whole request, the longest first", () => {
    const taken = new Map([
      ["c2", 7],
      ["c4", 7],
    ]);
    const places = someTaken(names(21), false, taken);
    for (const name of names(21)) places.begin(name, { complete: true });
    for (const bytes of [8, 9]) {
      places.look();
      taken.set("c2", bytes);
    }

    expect(["a", "b", "c"].map((name) => places.take(name, false))).toEqual(["c4", "a", "b"]);
    for (const name of ["c"]) places.begin(name, { complete: true });
    expect(places.take("d", false)).toBe("c2");
  });
});

describe("an answer that waits", () => {
  it("ends its connection after ten looks at which nothing more was taken", () => {
    const taken = new Map([["c1", 5]]);
    const places = someTaken(names(2), false, taken);
    const lookTimes = (count: number): unknown => Array.from({ length: count }, () => places.look()).flat();

    expect(lookTimes(10)).toEqual([]);
    taken.set("c1", 6);
    expect(lookTimes(10)).toEqual([]);
    expect(places.look()).toEqual(["c1"]);
  });

  it("finds room as long as all have little enough, and again when one was sent or has gone", () => {
    const places = someTaken(names(4));
    const request = { complete: true };
    places.begin("c1", request);
    const isHeld = (name: string, kib: number): boolean => places.hold(name, kib * kibibyte).isHeld;

    expect([isHeld("c1", 60), isHeld("c2", 40), isHeld("c3", 17), isHeld("c3", 16)]).toEqual([true, true, false, true]);
    places.end("c1", request);
    expect([isHeld("c3", 60), isHeld("c4", 17)]).toEqual([true, false]);
    places.leave("c2");
    expect(isHeld("c4", 17)).toBe(true);
  });

  it("has all of the room for itself if it is larger, and else takes that of those who stand still", () => {
    const taken = new Map([
      ["c1", 1],
      ["c2", 1],
    ]);
    const places = someTaken(names(4), false, taken);
    expect(places.hold("c1", 200 * kibibyte).isHeld).toBe(true);

    expect(places.hold("c2", 30 * kibibyte)).toEqual({ isHeld: false, losers: [] });
    places.look();
    expect(places.hold("c2", 30 * kibibyte)).toEqual({ isHeld: false, losers: [] });
    places.look();
    expect(places.hold("c2", 30 * kibibyte)).toEqual({ isHeld: true, losers: ["c1"] });
  });
});

import { describe, expect, it } from "vitest";

import type { IncidentFacts } from "../../read/incident-page.ts";
import { waitingNumbers, walkIncidents, type IncidentWalk } from "./list.ts";

/** Incidents 1 to 5,000 in pages of a hundred. */
const read: IncidentWalk["read"] = async (before) => {
  const newest = (before ?? 5_001) - 1;
  const facts = Array.from({ length: 100 }, (_, index) => ({ incident: { number: newest - index } }) as IncidentFacts);
  return { facts, next: newest <= 100 ? null : newest - 99 };
};
const isOne = (number: number) => (facts: IncidentFacts) => facts.incident.number === number;

describe("what waits", () => {
  it("is listed however old it is: the open incidents, and those that are not finished", () => {
    const live = [{ incident: { id: "a", number: 3 } }, { incident: { id: "b", number: 900 } }, {}];
    const unfinished = { incidents: new Set([7, 901]) };
    const listed = [{ incident: { number: 900 } }, { incident: { number: 901 } }] as IncidentFacts[];

    expect(waitingNumbers({ live, unfinished, listed }).toSorted((left, right) => left - right)).toEqual([3, 7]);
  });
});

describe("the walk through incidents", () => {
  it.each([
    ["stops when enough are wanted", () => true, null, 4_901, 100],
    ["finds one that is older than the newest hundred", isOne(4_000), null, 3_001, 2_000],
    ["goes on from where it was left", isOne(4_000), 3_001, 1_001, 2_000],
    ["ends with the oldest", isOne(1), 501, null, 500],
  ])("%s", async (_, isWanted, before, next, length) => {
    const found = await walkIncidents({ read, isWanted, before, atLeast: 100 });

    expect([found.next, found.facts.length]).toEqual([next, length]);
  });
});

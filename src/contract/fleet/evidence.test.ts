import { describe, expect, it } from "vitest";

import { fleetEvidence, type FleetMember } from "./evidence.ts";

const deploy = { text: "checker 4.2", atMs: 1_000 };
const rollback = { text: "rollback", atMs: 2_000 };

function member(slug: string, onsetAtMs: number | null, rest: Partial<FleetMember> = {}): FleetMember {
  return { slug, onset: onsetAtMs === null ? null : { atMs: onsetAtMs, marker: null }, deaths: null, ...rest };
}

const marked = (slug: string, onsetAtMs: number, marker: typeof deploy): FleetMember =>
  member(slug, null, { onset: { atMs: onsetAtMs, marker } });

describe("when a fleet's spike began", () => {
  it.each<[string, (number | null)[], number | null]>([
    ["is the onset in the middle", [9, 1, 5], 5],
    ["is between the middle two of an even number", [9, 1, 5, 7], 6],
    ["leaves out those whose onset nobody knows", [null, 3, null], 3],
    ["is not known where no onset is", [null, null], null],
  ])("%s", (_rule, onsets, expected) => {
    expect(fleetEvidence(onsets.map((atMs, index) => member(`org-${index}`, atMs))).beganAtMs).toBe(expected);
  });

  it("names the first", () => {
    const members = [member("late", 9), member("early", 1), member("never", null)];

    expect(fleetEvidence(members).first).toEqual({ slug: "early", atMs: 1 });
  });
});

describe("the markers near it", () => {
  it("are those that several members' onsets follow, oldest first", () => {
    const members = [
      marked("a", 3_000, rollback),
      marked("b", 3_000, rollback),
      marked("c", 1_500, deploy),
      marked("d", 1_600, deploy),
      marked("e", 1_700, deploy),
    ];

    expect(fleetEvidence(members).markers).toEqual([deploy, rollback]);
  });

  it("are not those of a single organization", () => {
    expect(fleetEvidence([marked("a", 1_500, deploy), member("b", 1_500)]).markers).toEqual([]);
  });
});

describe("the share undone", () => {
  it("is of the deaths of those of which it is known, with how many organizations' are mostly undone", () => {
    const members = [
      member("a", 1, { deaths: { count: 300, revivedCount: 30 } }),
      member("b", 1, { deaths: { count: 100, revivedCount: 50 } }),
      member("c", 1),
    ];

    expect(fleetEvidence(members).undone).toEqual({ share: 0.2, organizations: 1 });
  });

  it("is not known where no death has a name", () => {
    expect(fleetEvidence([member("a", 1)]).undone).toBeNull();
  });
});

import { describe, expect, it } from "vitest";

import { resultReport } from "../../../test/support/check-reports.ts";
import { noEvidence, type SpikeOnset } from "../spike-evidence.ts";
import { fleetEvidence, type SpikingMember } from "./evidence.ts";

const deploy = { text: "checker 4.2", atMs: 1_000 };
const rollback = { text: "rollback", atMs: 2_000 };

function member(onsetAtMs: number | null, marker: SpikeOnset["marker"] = null): SpikingMember {
  return { alert: onsetAtMs === null ? {} : { onset: { atMs: onsetAtMs, marker } }, report: null };
}

function died(currentCount: number, count: number): SpikingMember {
  const counts = { currentCount, baselineCount: null, expectedCount: null, ratio: null };
  const evidence = { ...noEvidence, onset: { atMs: 7, marker: null }, revived: { judged: currentCount, count } };
  return { alert: {}, report: resultReport({ counts, evidence }) };
}

describe("when a fleet's spike began", () => {
  it.each<[string, (number | null)[], number | null]>([
    ["is the onset in the middle", [9, 1, 5], 5],
    ["is between the middle two of an even number", [9, 1, 5, 7], 6],
    ["leaves out those whose onset nobody knows", [null, 3, null], 3],
    ["is not known where no onset is", [null, null], null],
  ])("%s", (_rule, onsets, expected) => {
    expect(fleetEvidence(onsets.map((atMs) => member(atMs))).beganAtMs).toBe(expected);
  });
});

describe("the markers near it", () => {
  it("are those that several members' onsets follow, oldest first", () => {
    const members = [
      member(3_000, rollback),
      member(3_000, rollback),
      member(1_500, deploy),
      member(1_600, deploy),
      member(1_700, deploy),
    ];

    expect(fleetEvidence(members).markers).toEqual([deploy, rollback]);
  });

  it("are not those of a single organization", () => {
    expect(fleetEvidence([member(1_500, deploy), member(1_500)]).markers).toEqual([]);
  });
});

describe("the share undone", () => {
  it("is of the deaths of those of which it is known, with how many organizations' are mostly undone", () => {
    const members = [died(300, 30), died(100, 50), member(1)];

    expect(fleetEvidence(members)).toMatchObject({ beganAtMs: 7, undone: { share: 0.2, organizations: 1 } });
  });

  it("is not known where no death has a name", () => {
    expect(fleetEvidence([member(1)]).undone).toBeNull();
  });
});

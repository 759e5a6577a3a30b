import { describe, expect, it } from "vitest";

import { firingAlert, openIncident } from "../../test/support/firing-alert.ts";
import type { AlertFound, Alert } from "../store/alerts/alerts.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import { excessStoppedAtMs, incidentExcess, summarizeIncident, type IncidentMember } from "./incident-summary.ts";

const incident: Incident = openIncident(1_000, { id: "i1" });
const nothingFound: AlertFound = { deaths: null, carriers: [], revived: null, cause: null, error: null };

function member(alert: Partial<Alert>, how: Partial<IncidentMember> = {}): IncidentMember {
  return { ...firingAlert("a1", 1, alert), isSilenced: false, holdsGate: false, ...how };
}

function found(count: number, share: number, rest: Partial<AlertFound> = {}): AlertFound {
  const carriers = share === 0 ? [] : [{ key: "reason", value: "captcha_page", share, usualShare: 0.05 }];
  return { ...nothingFound, deaths: { count, expected: 10 }, carriers, ...rest };
}

const summarize = (members: readonly IncidentMember[], of: Partial<Incident> = {}) =>
  summarizeIncident({ ...incident, ...of }, members, { externalUrl: "https://flatline.example/" });

const verdict = { startsAtMs: 1, together: 3, usual: 0.1, probability: 1e-9, organizations: 4 };

describe("an incident", () => {
  it("is of those that are not silenced, as severe as the worst that fires", () => {
    const over = { atMs: 2_000, isByRun: true };
    const summary = summarize([
      member({ slug: "a", severity: "warn" }, { holdsGate: true }),
      member({ slug: "b", severity: "fail" }, { isSilenced: true, holdsGate: true }),
      member({ slug: "c", severity: "fail" }, { end: over }),
    ]);

    expect(summary).toMatchObject({ severity: "warn", organizations: 2, firing: 1, held: 2 });
    expect(summary.url).toBe("https://flatline.example/incidents/41");
  });

  it("is as severe as it is where all of it is silenced", () => {
    expect(summarize([member({ severity: "fail" }, { isSilenced: true })])).toMatchObject({
      severity: "fail",
      organizations: 0,
    });
  });

  it.each<[string, AlertFound | undefined, unknown]>([
    ["sums the deaths of its alerts", found(20, 0), { count: 60, expected: 20 }],
    ["has no sum where one of them is not counted", nothingFound, null],
    ["has no sum where one of them found nothing", undefined, null],
  ])("%s", (_rule, second, deaths) => {
    const members = [
      member({ slug: "a", found: found(40, 0) }),
      member({ slug: "b", ...(second === undefined ? {} : { found: second }) }),
    ];

    expect(summarize(members).deaths).toEqual(deaths);
  });

  it.each<[string, ("ongoing" | "stopped" | "unclear" | null)[], unknown]>([
    ["is absent where no events say", [null, null], null],
    ["has stopped when all that know it have, at the last", ["stopped", "unclear", "stopped"], ["stopped", 3]],
    ["goes on while one does", ["stopped", "ongoing", "unclear"], ["ongoing", null]],
    ["is unclear when none knows it, and quiet since the last", ["unclear", null, "unclear"], ["unclear", 3]],
  ])("its excess %s", (_rule, states, expected) => {
    const counted = { deathsLastHour: 0, usualPerHour: 1, expectedEndAtMs: null };
    const firing = states.map((state, index) => {
      const quietSinceMs = state === "ongoing" ? null : index + 1;
      return { found: { ...nothingFound, ...(state && { excess: { ...counted, state, quietSinceMs } }) } };
    });

    const excess = incidentExcess(firing);

    expect(excess && [excess.state, excess.quietSinceMs]).toEqual(expected);
    expect(excessStoppedAtMs(firing)).toBe(excess?.state === "stopped" ? 3 : null);
  });

  it("began at the earlier of the middle two onsets", () => {
    const at = (atMs: number): IncidentMember => member({ slug: String(atMs), onset: { atMs, marker: null } });

    expect(summarize([at(9), at(1), at(5), at(7), member({})]).onsetAtMs).toBe(5);
  });

  it("shares values as far as its excess deaths do", () => {
    const members = [found(110, 0.9), found(20, 0), nothingFound].map((one) => member({ found: one }));
    const [carrier] = summarize(members).carriers;

    expect(carrier).toMatchObject({ key: "reason", value: "captcha_page" });
    expect(carrier?.share).toBeCloseTo(0.9 * (100 / 110), 10);
  });

  it.each<[string, AlertFound, Partial<Incident>, string]>([
    ["most of whose deaths share a value is the checker's", found(100, 0.8), {}, "checker"],
    ["few of whose deaths do is unclear", found(100, 0.4), {}, "unclear"],
    ["whose deaths were undone is the checker's", found(100, 0, { revived: { judged: 90, count: 60 } }), {}, "checker"],
    ["whose deaths are spread as usual is the assets'", found(100, 0, { cause: "assets" }), {}, "assets"],
    ["with a fleet verdict is what its deaths say", found(100, 0), { verdict }, "unclear"],
    ["of another family is unclear", found(100, 0.8), { family: "unreachable" }, "unclear"],
  ])("%s", (_what, one, of, cause) => {
    expect(summarize([member({ found: one })], of).likelyCause).toBe(cause);
  });

  it("is acknowledged by who acknowledged all that fires in it", () => {
    const acknowledgement = { atMs: 1, by: "dana", note: null, comment: null, severity: "fail" } as const;
    const own = member({ slug: "a", acknowledgement });

    expect(summarize([own, member({ slug: "b" })]).acknowledgedBy).toBeNull();
    expect(summarize([own, member({ slug: "b", acknowledgement })]).acknowledgedBy).toBe("dana");
    const others = member({ slug: "b", acknowledgement: { ...acknowledgement, by: "kim" } });
    expect(summarize([own, others]).acknowledgedBy).toBe("2 people");
    const named = member({ slug: "a", acknowledgement: { ...acknowledgement, by: "web", note: "Dana Reyes" } });
    expect(summarize([named]).acknowledgedBy).toBe("Dana Reyes (web)");
  });
});

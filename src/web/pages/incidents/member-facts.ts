import type { IncidentMember } from "../../../alerting/incident-summary.ts";
import type { ReadIncident } from "../../read/incidents.ts";

/** The numbers of a member. */
export type MemberFacts = ReturnType<typeof memberFactsOf>[number];

// At least half of the deaths share the cause, as in a spike.
const sharingShare = 0.5;

/** Returns the members with their numbers, the most excess first. */
export function memberFactsOf({ members, heldSince, summary }: ReadIncident) {
  const [carrier] = summary.carriers;
  return members
    .map((member) => {
      const { slug, found } = member;
      const { count = null, expected = null } = found?.deaths ?? {};
      const own = found?.carriers.find(({ key, value }) => key === carrier?.key && value === carrier?.value);
      return {
        member,
        slug,
        beganMs: beganMsOf(member),
        count,
        expected,
        /** Deaths more than expected, at least 0. */
        excess: Math.max(0, (count ?? 0) - (expected ?? 0)),
        /** null: none expected, or not counted. */
        ratio: count === null || !expected ? null : count / expected,
        /** The share of its deaths with the value that most of the incident's excess shares; null: it shares none. */
        share: carrier === undefined ? null : (own?.share ?? 0),
        /** Deaths that were found alive since. */
        revived: found?.revived?.count ?? 0,
        heldSinceMs: heldSince.get(slug) ?? null,
      };
    })
    .toSorted((left, right) => right.excess - left.excess || (left.slug < right.slug ? -1 : 1));
}

/** Returns whether a member shares the incident's cause; true if the incident has none. */
export function sharesCause({ share }: MemberFacts): boolean {
  return share === null || share >= sharingShare;
}

/** Returns the onset of its deaths, or the first run that was not ok if the onset is unknown (epoch ms). */
export function beganMsOf({ onset, startsAtMs }: Pick<IncidentMember, "onset" | "startsAtMs">): number {
  return onset?.atMs ?? startsAtMs;
}

/** Returns the sum of the members' excess deaths. */
export function excessOf(members: readonly MemberFacts[]): number {
  return members.reduce((sum, { excess }) => sum + excess, 0);
}

/** Returns when the excess of all members stopped (epoch ms); null: it goes on, or it is unknown. */
export function stoppedMsOf({ summary, incident, headline }: ReadIncident): number | null {
  return incident.endedAtMs === null ? summary.excessStoppedAtMs : headline.stoppedAtMs;
}

import { stoppedAtMsOfEach, type IncidentMember } from "../../../alerting/incident-summary.ts";
import type { ReadIncident } from "../../read/incidents.ts";

/** The numbers of a member. */
export interface MemberFacts {
  readonly member: IncidentMember;
  readonly slug: string;
  readonly beganMs: number;
  readonly count: number | null;
  readonly expected: number | null;
  /** Deaths more than expected, at least 0. */
  readonly excess: number;
  /** null: none expected, or not counted. */
  readonly ratio: number | null;
  /** Share of its deaths with the value that most of the incident's excess shares; null: the incident shares none. */
  readonly share: number | null;
  /** Deaths that were found alive since. */
  readonly revived: number;
  readonly heldSinceMs: number | null;
}

// At least half of the deaths share the cause, as in a spike.
const sharingShare = 0.5;

/** Returns the members with their numbers, the most excess first. */
export function memberFactsOf({ members, heldSince, summary }: ReadIncident): readonly MemberFacts[] {
  const [carrier] = summary.carriers;
  return members
    .map((member): MemberFacts => {
      const { slug, found } = member;
      const deaths = found?.deaths ?? null;
      const own = found?.carriers.find(({ key, value }) => key === carrier?.key && value === carrier?.value);
      return {
        member,
        slug,
        beganMs: beganMsOf(member),
        count: deaths?.count ?? null,
        expected: deaths?.expected ?? null,
        excess: deaths === null ? 0 : Math.max(0, deaths.count - deaths.expected),
        ratio: deaths === null || deaths.expected === 0 ? null : deaths.count / deaths.expected,
        share: carrier === undefined ? null : (own?.share ?? 0),
        revived: found?.revived?.count ?? 0,
        heldSinceMs: heldSince.get(slug) ?? null,
      };
    })
    .toSorted((left, right) => right.excess - left.excess || (left.slug < right.slug ? -1 : 1));
}

/** Returns whether a member shares the incident's cause; true if the incident has none. */
export function sharesCause({ share }: Pick<MemberFacts, "share">): boolean {
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
export function stoppedMsOf({
  summary,
  incident,
  members,
}: Pick<ReadIncident, "summary" | "incident" | "members">): number | null {
  if (incident.endedAtMs === null) return summary.excessStoppedAtMs;
  const stopped = stoppedAtMsOfEach(members);
  return stopped.length === 0 ? null : Math.max(...stopped);
}

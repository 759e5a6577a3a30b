import { stoppedAtMsOfEach, type IncidentMember } from "../../../alerting/incident-summary.ts";
import type { ReadIncident } from "../../read/incidents.ts";

/** What the pages say of a member, in numbers. */
export interface MemberFacts {
  readonly member: IncidentMember;
  readonly slug: string;
  readonly beganMs: number;
  readonly count: number | null;
  readonly expected: number | null;
  /** Deaths more than expected, at least 0. */
  readonly excess: number;
  /** null where nothing was expected, or nothing is counted. */
  readonly ratio: number | null;
  /** Share of its deaths that have what most of the incident's excess shares; null: the incident shares nothing. */
  readonly share: number | null;
  /** Deaths that were found alive since. */
  readonly revived: number;
  readonly heldSinceMs: number | null;
}

// As for the cause of a spike: what half of the deaths have in common.
const sharingShare = 0.5;

/** Returns the members with their numbers, those with the most excess first. */
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

/** Returns whether it has the incident's cause; true where the incident has none to share. */
export function sharesCause({ share }: Pick<MemberFacts, "share">): boolean {
  return share === null || share >= sharingShare;
}

/** When its deaths began; where no run could find out, its first run that was not ok. */
export function beganMsOf({ onset, startsAtMs }: Pick<IncidentMember, "onset" | "startsAtMs">): number {
  return onset?.atMs ?? startsAtMs;
}

/** Returns the sum of the members' excess deaths. */
export function excessOf(members: readonly MemberFacts[]): number {
  return members.reduce((sum, { excess }) => sum + excess, 0);
}

/** When the excess of all had stopped, the incident over or not; null: it lasts, or nobody knows. */
export function stoppedMsOf({
  summary,
  incident,
  members,
}: Pick<ReadIncident, "summary" | "incident" | "members">): number | null {
  if (incident.endedAtMs === null) return summary.excessStoppedAtMs;
  const stopped = stoppedAtMsOfEach(members);
  return stopped.length === 0 ? null : Math.max(...stopped);
}

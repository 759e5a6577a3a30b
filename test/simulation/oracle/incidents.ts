import { dayMs, minuteMs } from "../../../src/base/time.ts";
import { worstSeverity, type Severity } from "../../../src/contract/severity.ts";
import type { NamedAlert, PeopleObserver, Saying, SeenAlert, SeenIncident, SeenMember } from "../people.ts";
import type { ActOracle } from "./acts.ts";
import type { Episode, Episodes } from "./episodes.ts";
import type { Facts } from "./facts.ts";
import type { GateOracle } from "./gate.ts";

/** An incident that was seen. */
interface Known {
  readonly family: string;
  readonly firstAtMs: number;
  /** By the monotonic clock. */
  readonly seenAtMs: number;
  /** By id, in the order in which they were seen. */
  readonly members: Map<string, NamedAlert>;
  hasVerdict: boolean;
  /** It was seen to be over, or none of its alerts to fire any more. */
  isOver: boolean;
}

/** When an alert was quiet for sure, by the monotonic clock. */
interface Quiet {
  readonly fromMs: number;
  untilMs: number;
}

const withinMs = 30 * minuteMs;
// From its verdict on; counted here from the first alert, which is not later.
const underVerdictMs = dayMs;

/**
 * What began together belongs together, stays so, and is acknowledged together (CONTRACT 15), worked out of what is
 * seen of incidents every ten minutes and before each act.
 */
export class IncidentOracle implements Pick<PeopleObserver, "looked" | "saying"> {
  readonly #facts: Facts;
  readonly #episodes: Episodes;
  readonly #gate: GateOracle;
  readonly #acts: () => ActOracle;
  readonly #incidentOf = new Map<string, number>();
  readonly #known = new Map<number, Known>();
  readonly #quiet = new Map<string, readonly Quiet[]>();
  /** Those that last, as far as anybody knows. */
  readonly #quietNow = new Map<string, Quiet>();

  constructor(facts: Facts, parts: { episodes: Episodes; gate: GateOracle; acts: () => ActOracle }) {
    this.#facts = facts;
    this.#episodes = parts.episodes;
    this.#gate = parts.gate;
    this.#acts = parts.acts;
  }

  /** The ids of its alerts. */
  membersOf(number: number): ReadonlySet<string> {
    return new Set(this.#known.get(number)?.members.keys());
  }

  /** The worst of its alerts that fire. */
  severityOf(number: number): Severity {
    return worstSeverity(this.#firing(number).map(({ severities }) => severities.at(-1) ?? "unknown"));
  }

  /** Whether an act on the whole of it may be refused for what it is. */
  mayRefuse(number: number, act: Saying["act"]): boolean {
    if (act === "judge" || act === "release") return this.#known.get(number)?.family !== "deaths";
    return act !== "comment" && this.#firing(number).length === 0;
  }

  /** Looks at all that are open. To be called when nothing else is asked. */
  async ask(): Promise<void> {
    const { world } = this.#facts;
    const before = this.#facts.happened;
    const { status, body } = await world.ask({ method: "GET", url: "/api/v1/incidents" });
    if (status !== 200) return;
    const listed = (JSON.parse(body) as { readonly incidents: readonly SeenIncident[] }).incidents;
    const open = new Set(listed.map(({ number }) => number));
    // Those that are over since were members' last chance to change something.
    const wanted = [
      ...open,
      ...[...this.#known].flatMap(([number, { isOver }]) => (isOver || open.has(number) ? [] : [number])),
    ];
    for (const number of wanted.toSorted((left, right) => left - right)) {
      const seen = await world.ask({ method: "GET", url: `/api/v1/incidents/${number}` });
      if (seen.status !== 200) continue;
      const incident = JSON.parse(seen.body) as SeenIncident;
      this.looked(incident);
      if (before === this.#facts.happened) this.#compare(incident);
    }
  }

  /** To be called with a list that nothing happened amid. */
  compare(alerts: readonly SeenAlert[]): void {
    for (const { id, slug, state, incidentNumber } of alerts) {
      const before = this.#incidentOf.get(id);
      if (state === "pending" && incidentNumber !== null)
        this.#facts.violate(`${id} (${slug}) is pending, and of incident ${incidentNumber}`);
      if (state === "firing" && before !== undefined && before !== incidentNumber)
        this.#facts.violate(`${id} (${slug}) went from incident ${before} to ${incidentNumber}`);
      if (state === "firing" && incidentNumber === null)
        this.#facts.violate(`${id} (${slug}) fires, and is of no incident`);
    }
  }

  looked({ number, family, endedAt, fleet, alerts }: SeenIncident): void {
    const known = this.#known.get(number) ?? this.#open(number, family, alerts);
    const inOrder = alerts.toSorted((left, right) => Date.parse(left.firingAt) - Date.parse(right.firingAt));
    for (const alert of inOrder) {
      const before = this.#incidentOf.get(alert.id);
      if (before !== undefined && before !== number)
        this.#facts.violate(`${alert.id} (${alert.slug}) is of incidents ${before} and ${number}`);
      if (before === undefined) this.#join(number, known, alert);
    }
    known.hasVerdict = fleet !== null;
    known.isOver ||= endedAt !== null;
  }

  /** Whoever acts on an alert may change whether it is acknowledged. */
  saying({ alerts, incident }: Saying): void {
    for (const { id } of alerts) this.#louden(id);
    if (incident !== null) for (const id of this.membersOf(incident)) this.#louden(id);
  }

  /** An alert became a failure. */
  failed(episode: Episode): void {
    for (const [id, number] of this.#incidentOf)
      if (this.#episodes.named(id) === episode) {
        this.#louden(id);
        this.#worsen(number, "fail");
      }
  }

  /** Whether an alert was acknowledged at that time of the monotonic clock. */
  wasQuiet(id: string, atMs: number): boolean {
    return this.#quiet.get(id)?.some(({ fromMs, untilMs }) => fromMs + minuteMs < atMs && atMs < untilMs) === true;
  }

  #of(number: number): Known {
    return this.#known.get(number) ?? this.#open(number, "deaths", []);
  }

  #open(number: number, family: string, alerts: readonly SeenMember[]): Known {
    const { monotonicMs, world } = this.#facts;
    const firstAtMs = Math.min(...alerts.map(({ firingAt }) => Date.parse(firingAt)));
    const newest = [...this.#known].filter(([, one]) => one.family === family && !one.isOver).at(-1);
    const known: Known = {
      family,
      firstAtMs,
      seenAtMs: monotonicMs,
      members: new Map(),
      hasVerdict: false,
      isOver: false,
    };
    this.#known.set(number, known);
    // Between two looks the newest one may have ended and this one be another; and clocks are set.
    if (newest === undefined || world.clockSetAtMs > newest[1].seenAtMs) return known;
    // Nobody says which one opened it: after a standstill one that was due before may follow one that began late.
    const lastAtMs = Math.max(firstAtMs, ...alerts.map(({ firingAt }) => Date.parse(firingAt)));
    const isBefore = newest[1].firstAtMs <= firstAtMs;
    const isNewestOpen = this.#firing(newest[0]).some(({ firedAtMs }) => (firedAtMs ?? Infinity) < firstAtMs);
    const sinceMs = lastAtMs - newest[1].firstAtMs;
    if (isNewestOpen && isBefore && sinceMs <= (newest[1].hasVerdict ? underVerdictMs : withinMs))
      this.#facts.violate(`incident ${number} was opened beside ${newest[0]}, which it is of`);
    return known;
  }

  #join(number: number, known: Known, alert: SeenMember): void {
    const { id, slug, kind } = alert;
    this.#incidentOf.set(id, number);
    known.members.set(id, alert);
    const isOfDeaths = known.family === "deaths";
    if (isOfDeaths !== (kind === "verdict"))
      this.#facts.violate(`${id} (${slug}) is of kind ${kind}, and incident ${number} of ${known.family}`);
    if (known.isOver) this.#facts.violate(`${id} (${slug}) joined incident ${number}, which was over`);
    const episode = this.#episodes.of(alert);
    if (episode !== undefined) this.#worsen(number, worstSeverity(episode.severities));
  }

  /** What was acknowledged as less ends for all that fire. */
  #worsen(number: number, severity: Severity): void {
    for (const alert of this.#of(number).members.values()) {
      this.#louden(alert.id);
      // One that ended lately may have ended before that.
      this.#acts().worsened(alert.id, severity, this.#episodes.of(alert)?.endsAtMs === null);
    }
  }

  /** What is shown of an incident, at a moment at which nothing happens. */
  #compare(seen: SeenIncident): void {
    const { number, alerts, fleet } = seen;
    const say = (what: string): void => this.#facts.violate(`incident ${number} ${what}`);
    this.#acts().compare(alerts.filter(({ endsAt }) => endsAt === null));
    const firing = alerts.filter(({ endsAt }) => endsAt === null);
    if (firing.length === 0 && seen.endedAt === null) say("is open, and nothing of it fires");
    if (firing.length > 0 && seen.endedAt !== null) say("is over, and some of it fires");
    const organizations = new Set(alerts.map(({ slug }) => slug)).size;
    if (!alerts.some(({ silenced }) => silenced)) {
      if (firing.length > 0 && seen.severity !== this.severityOf(number))
        say(`is ${seen.severity}, and its worst alert ${this.severityOf(number)}`);
      if (seen.organizations !== organizations) say(`has ${seen.organizations} organizations, not ${organizations}`);
    }
    const held = alerts.map((alert) => this.#episodes.of(alert)).filter((one) => one !== undefined);
    const isKnown = held.length === alerts.length && held.every((one) => this.#gate.holds(one).size === 1);
    const heldSlugs = new Set(held.flatMap((one) => (this.#gate.holds(one).has(true) ? [one.slug] : [])));
    if (isKnown && heldSlugs.size !== seen.held) say(`holds ${seen.held} gates, not ${[...heldSlugs].join()}`);
    if (fleet !== null) {
      const { monotonicMs, world } = this.#facts;
      const isClockSet = world.clockSetAtMs > monotonicMs - dayMs;
      // Of those that had fired when it began.
      const most = mostTogether(alerts.filter(({ firingAt }) => isClockSet || firingAt <= fleet.startsAt));
      if (fleet.together > most) say(`has ${fleet.together} that began together, and ${most} did`);
      if (fleet.spiking > organizations) say(`has ${fleet.spiking} of ${organizations} that spike`);
      if (fleet.probability >= 1e-6) say(`has a verdict of chance, by ${fleet.probability}`);
    }
    const said = firing.map((alert) => this.#acts().of(alert).acknowledgement.sure);
    for (const [index, { id }] of firing.entries()) this.#noteQuiet(id, said[index]?.by);
    if (said.includes(undefined)) return;
    const names = said.map((one) => one?.by ?? null);
    const people = new Set(names);
    const [by = null] = people;
    const expected = people.has(null) ? null : people.size > 1 ? `${people.size} people` : by;
    if (seen.acknowledgedBy !== expected)
      say(`is acknowledged by ${seen.acknowledgedBy}, not ${expected} (${names.join()})`);
  }

  #noteQuiet(id: string, by: string | undefined): void {
    if (by === undefined) return this.#louden(id);
    const { monotonicMs } = this.#facts;
    const now = this.#quietNow.get(id) ?? { fromMs: monotonicMs, untilMs: monotonicMs };
    if (!this.#quietNow.has(id)) this.#quiet.set(id, [...(this.#quiet.get(id) ?? []), now]);
    this.#quietNow.set(id, now);
    now.untilMs = monotonicMs;
  }

  /** From now on receivers may be notified of it. */
  #louden(id: string): void {
    this.#quietNow.delete(id);
  }

  #firing(number: number): Episode[] {
    const members = [...(this.#known.get(number)?.members.values() ?? [])];
    return members
      .map((alert) => this.#episodes.of(alert))
      .filter((episode) => episode !== undefined)
      .filter(({ endsAtMs }) => endsAtMs === null);
  }
}

/** The most organizations that began within the same 30 minutes. */
function mostTogether(alerts: readonly NamedAlert[]): number {
  const began = alerts.map(({ slug, startsAt }) => ({ slug, atMs: Date.parse(startsAt) }));
  return Math.max(
    ...began.map(
      ({ atMs }) =>
        new Set(began.flatMap((one) => (atMs <= one.atMs && one.atMs <= atMs + withinMs ? [one.slug] : []))).size,
    ),
  );
}

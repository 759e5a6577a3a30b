import { minuteMs } from "../../../src/base/time.ts";
import type { Outcome, PeopleObserver, Saying, Verdict } from "../people.ts";
import { doneOf } from "./acts.ts";
import type { Episode, Episodes } from "./episodes.ts";
import { iso, type Facts } from "./facts.ts";
import { Possible } from "./possible.ts";

interface Failure {
  readonly isReleased: Possible<boolean>;
}

type Decision = "allow" | "hold";

interface GateAnswer {
  readonly decision: Decision;
  readonly reason: string;
  readonly suspectFrom: string | null;
}

/** What the gate has to answer: never allow while a fail is open and nothing released it. */
export class GateOracle implements Pick<PeopleObserver, "saying" | "said"> {
  /** Answers that were compared. */
  asked = 0;
  readonly #facts: Facts;
  readonly #episodes: () => Episodes;
  readonly #failures = new Map<Episode, Failure>();
  /** By alert, also of those that have not failed yet. */
  readonly #judgements = new Map<Episode, Possible<Verdict | null>>();
  /** Acts under way, and the decisions that were possible before them. */
  readonly #underWay = new Map<Saying, ReadonlyMap<string, ReadonlySet<Decision>>>();
  /** Acts amid which another one was under way. */
  readonly #notAlone = new Set<Saying>();
  readonly #next: string[] = [];

  constructor(facts: Facts, episodes: () => Episodes) {
    this.#facts = facts;
    this.#episodes = episodes;
  }

  /** An alert became a failure, for the first time or again. */
  failed(episode: Episode): void {
    const isReleased = new Possible(false);
    this.#failures.set(episode, { isReleased });
    // Whether what is under way comes before it is not known.
    for (const saying of this.#underWay.keys()) {
      this.#await(saying, episode);
      isReleased.happen((value) => value);
    }
    if (!this.#next.includes(episode.slug)) this.#next.push(episode.slug);
  }

  saying(saying: Saying): void {
    const slugs = saying.alerts.map(({ slug }) => slug);
    if (this.#underWay.size > 0) for (const other of [saying, ...this.#underWay.keys()]) this.#notAlone.add(other);
    this.#underWay.set(saying, new Map(slugs.map((slug) => [slug, this.possible(slug)])));
    for (const episode of this.#episodesOf(saying)) this.#await(saying, episode);
  }

  said(saying: Saying, outcome: Outcome): void {
    const before = this.#underWay.get(saying) ?? new Map<string, Set<Decision>>();
    this.#underWay.delete(saying);
    const isAlone = !this.#notAlone.delete(saying);
    const done = doneOf(saying, outcome);
    const acted = new Set(
      saying.incident === null && saying.act === "release" && done?.length !== 0
        ? this.#episodesOf(saying)
        : saying.alerts.flatMap((alert) => (done?.includes(alert.id) === false ? [] : this.#episodes().of(alert))),
    );
    const how = (episode: Episode): "done" | "not" | "lost" =>
      done === null ? "lost" : acted.has(episode) ? "done" : "not";
    for (const episode of this.#episodesOf(saying)) {
      const failure = this.#failures.get(episode);
      if (saying.act === "judge" || saying.act === "withdraw")
        this.#judgementOf(episode).settle(saying, how(episode), saying.act === "judge" ? saying.verdict : null);
      if (saying.act === "release") failure?.isReleased.settle(saying, how(episode), true);
    }
    for (const { slug } of saying.alerts) if (!this.#next.includes(slug)) this.#next.push(slug);
    if (isAlone && typeof outcome === "object" && !this.#facts.world.isReloading)
      this.#compareAnswer(saying, outcome, before);
  }

  /** Asks for the gates that changed lately, and for `slug`. */
  async ask(slug: string): Promise<void> {
    for (const one of new Set([...this.#next.splice(0), slug])) await this.#compare(one);
  }

  /** Whether the failure of this alert holds its gate; more than one value where nobody knows. */
  holds(episode: Episode, except: Saying | null = null): Set<boolean> {
    const failure = this.#failures.get(episode);
    return failure === undefined
      ? new Set([false])
      : heldBy(episode, this.#stateOf(episode, failure, except), this.#releaseOn(episode.slug));
  }

  /** What comes of a release of the hold of this alert. */
  release(saying: Saying, episode: Episode): Set<string> {
    if (!this.#failures.has(episode)) return new Set(["not_held"]);
    return new Set([...this.holds(episode, saying)].map((isHeld) => (isHeld ? "done" : "already")));
  }

  /** What the gate may answer. */
  possible(slug: string): Set<Decision> {
    const possible = new Set<Decision>(["allow"]);
    for (const episode of this.#failures.keys()) {
      if (episode.slug !== slug) continue;
      const isHeld = this.holds(episode);
      if (isHeld.has(true)) possible.add("hold");
      if (!isHeld.has(false)) possible.delete("allow");
    }
    return possible;
  }

  async #compare(slug: string): Promise<void> {
    const { world } = this.#facts;
    if (world.upSinceMs === null || world.isReloading) return;
    const before = this.possible(slug);
    const heldBefore = this.#heldSinceMs(slug);
    const { status, body } = await world.ask({ method: "GET", url: `/api/v1/gate/${slug}` });
    const possible = new Set([...before, ...this.possible(slug)]);
    if (status !== 200 && status !== 404) return;
    this.asked++;
    const { decision, reason, suspectFrom } =
      status === 404
        ? { decision: "allow" as const, reason: "no such organization", suspectFrom: null }
        : (JSON.parse(body) as GateAnswer);
    if (status === 404 && this.#facts.organizations.has(slug)) this.#facts.violate(`the gate does not know ${slug}`);
    if (!possible.has(decision)) this.#facts.violate(`the gate of ${slug} says ${decision} (${reason})`);
    // An alert is found after the deaths that are in question began, so that none of those that hold is left out.
    const sinceMs = Math.max(heldBefore, this.#heldSinceMs(slug));
    if (decision === "hold" && (suspectFrom === null || Date.parse(suspectFrom) > sinceMs + minuteMs))
      this.#facts.violate(`the gate of ${slug} suspects from ${suspectFrom}, and holds from ${iso(sinceMs)}`);
  }

  /** What an act on an incident says of gates. */
  #compareAnswer(
    { act, by, incident, alerts }: Saying,
    { gatesOpened, gatesHeld }: Exclude<Outcome, string>,
    before: ReadonlyMap<string, ReadonlySet<Decision>>,
  ): void {
    for (const slug of new Set(alerts.map((alert) => alert.slug))) {
      const after = this.possible(slug);
      const couldHold = before.get(slug) ?? after;
      const say = (what: string): void =>
        this.#facts.violate(`${by}'s ${act} of incident ${incident} says that the gate of ${slug} ${what}`);
      const isOpened = gatesOpened.includes(slug);
      if (!after.has(gatesHeld.includes(slug) ? "hold" : "allow"))
        say(gatesHeld.includes(slug) ? "is held" : "is not held");
      if (isOpened && !(couldHold.has("hold") && after.has("allow"))) say("opens");
      if (!isOpened && !couldHold.has("allow") && !after.has("hold")) say("does not open");
    }
  }

  /** When the first of the alerts began that hold for sure. */
  #heldSinceMs(slug: string): number {
    const held = [...this.#failures.keys()].filter(
      (episode) => episode.slug === slug && !this.holds(episode).has(false),
    );
    return Math.min(...held.map(({ startsAtMs }) => startsAtMs));
  }

  #releaseOn(slug: string): readonly string[] {
    return this.#facts.organizations.get(slug)?.gate.releaseOn ?? ["judged"];
  }

  #judgementOf(episode: Episode): Possible<Verdict | null> {
    const known = this.#judgements.get(episode) ?? new Possible<Verdict | null>(null);
    this.#judgements.set(episode, known);
    return known;
  }

  #stateOf(episode: Episode, { isReleased }: Failure, except: Saying | null): FailureState {
    return {
      judgements: this.#judgementOf(episode).values(except),
      isReleased: isReleased.values(except),
    };
  }

  /** What the act may change: a release of a gate all that failed in it. */
  #episodesOf({ act, alerts, incident }: Saying): readonly Episode[] {
    if (act !== "release" || incident !== null) return alerts.flatMap((alert) => this.#episodes().of(alert) ?? []);
    return [...this.#failures.keys()].filter((episode) => alerts.some(({ slug }) => slug === episode.slug));
  }

  #await(saying: Saying, episode: Episode): void {
    const failure = this.#failures.get(episode);
    if (!this.#episodesOf(saying).includes(episode)) return;
    if (saying.act === "judge") this.#judgementOf(episode).await(saying, saying.verdict);
    if (saying.act === "withdraw") this.#judgementOf(episode).await(saying, null);
    if (saying.act === "release") failure?.isReleased.await(saying, true);
  }
}

interface FailureState {
  readonly judgements: readonly (Verdict | null)[];
  readonly isReleased: readonly boolean[];
}

/** Whether the failure holds the gate, in each case that may be. */
function heldBy(
  { endsAtMs, isEndedByRun }: Episode,
  { judgements, isReleased }: FailureState,
  releaseOn: readonly string[],
): Set<boolean> {
  if (endsAtMs !== null && releaseOn.includes("resolved")) return new Set([false]);
  const releasedBy = (judgement: Verdict | null): boolean =>
    releaseOn.includes("judged") &&
    judgement !== null &&
    (judgement !== "checker" || (endsAtMs !== null && isEndedByRun));
  const held = new Set<boolean>();
  for (const judgement of judgements) for (const released of isReleased) held.add(!(releasedBy(judgement) || released));
  return held;
}

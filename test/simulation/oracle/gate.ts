import { minuteMs } from "../../../src/base/time.ts";
import type { PeopleObserver, Saying, Verdict } from "../people.ts";
import type { Episode, Episodes } from "./episodes.ts";
import { iso, type Facts } from "./facts.ts";

/** What may be so of a failure: more than one value while an answer is awaited, or was lost. */
interface Failure {
  judgements: Set<Verdict | null>;
  isReleased: Set<boolean>;
  isAcknowledged: Set<boolean>;
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
  readonly #judgements = new Map<Episode, Set<Verdict | null>>();
  readonly #releasing = new Set<string>();
  readonly #next: string[] = [];

  constructor(facts: Facts, episodes: () => Episodes) {
    this.#facts = facts;
    this.#episodes = episodes;
  }

  /** An alert became a failure, for the first time or again. */
  failed(episode: Episode): void {
    this.#failures.set(episode, {
      judgements: this.#judgementsOf(episode),
      isReleased: this.#releasing.has(episode.slug) ? new Set([true, false]) : new Set([false]),
      isAcknowledged: new Set([false]),
    });
    if (!this.#next.includes(episode.slug)) this.#next.push(episode.slug);
  }

  saying(saying: Saying): void {
    this.#apply(saying, (values, value) => values.add(value));
    if (saying.act === "release") this.#releasing.add(saying.slug);
  }

  said(saying: Saying, isDone: boolean | null): void {
    if (saying.act === "release") this.#releasing.delete(saying.slug);
    const slug = saying.act === "release" ? saying.slug : saying.alert.slug;
    if (!this.#next.includes(slug)) this.#next.push(slug);
    if (isDone !== true) return;
    this.#apply(saying, (values, value) => {
      values.clear();
      values.add(value);
    });
  }

  /** Asks for the gates that changed lately, and for `slug`. */
  async ask(slug: string): Promise<void> {
    for (const one of new Set([...this.#next.splice(0), slug])) await this.#compare(one);
  }

  async #compare(slug: string): Promise<void> {
    const { world } = this.#facts;
    if (world.upSinceMs === null || world.isReloading) return;
    const before = this.#possible(slug);
    const heldBefore = this.#heldSinceMs(slug);
    const { status, body } = await world.ask({ method: "GET", url: `/api/v1/gate/${slug}` });
    const possible = new Set([...before, ...this.#possible(slug)]);
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

  /** When the first of the alerts began that hold for sure. */
  #heldSinceMs(slug: string): number {
    const releaseOn = this.#facts.organizations.get(slug)?.gate.releaseOn ?? ["judged"];
    const held = [...this.#failures].filter(
      ([episode, failure]) => episode.slug === slug && !heldBy(episode, failure, releaseOn).has(false),
    );
    return Math.min(...held.map(([{ startsAtMs }]) => startsAtMs));
  }

  #possible(slug: string): Set<Decision> {
    const releaseOn = this.#facts.organizations.get(slug)?.gate.releaseOn ?? ["judged"];
    const possible = new Set<Decision>(["allow"]);
    for (const [episode, failure] of this.#failures) {
      if (episode.slug !== slug) continue;
      const isHeld = heldBy(episode, failure, releaseOn);
      if (isHeld.has(true)) possible.add("hold");
      if (!isHeld.has(false)) possible.delete("allow");
    }
    return possible;
  }

  #judgementsOf(episode: Episode): Set<Verdict | null> {
    const known = this.#judgements.get(episode) ?? new Set<Verdict | null>([null]);
    this.#judgements.set(episode, known);
    return known;
  }

  #apply(saying: Saying, change: <Value>(values: Set<Value>, value: Value) => void): void {
    if (saying.act === "release") {
      for (const [episode, { isReleased }] of this.#failures)
        if (episode.slug === saying.slug) change(isReleased, true);
      return;
    }
    const episode = this.#episodes().of(saying.alert);
    if (episode === undefined) return;
    if (saying.act === "judge") change<Verdict | null>(this.#judgementsOf(episode), saying.verdict);
    else if (saying.act === "withdraw") change<Verdict | null>(this.#judgementsOf(episode), null);
    else if (saying.act === "acknowledge" || saying.act === "unacknowledge") {
      const failure = this.#failures.get(episode);
      if (failure !== undefined) change(failure.isAcknowledged, saying.act === "acknowledge");
    }
  }
}

/** Whether the failure holds the gate, in each case that may be. */
function heldBy(
  { endsAtMs, isEndedByRun }: Episode,
  { judgements, isReleased, isAcknowledged }: Failure,
  releaseOn: readonly string[],
): Set<boolean> {
  if (endsAtMs !== null && releaseOn.includes("resolved")) return new Set([false]);
  const releasedBy = (judgement: Verdict | null): boolean =>
    releaseOn.includes("judged") &&
    judgement !== null &&
    (judgement !== "checker" || (endsAtMs !== null && isEndedByRun));
  const held = new Set<boolean>();
  for (const judgement of judgements)
    for (const released of isReleased)
      for (const acknowledged of isAcknowledged)
        held.add(!(releasedBy(judgement) || released || (acknowledged && releaseOn.includes("acknowledged"))));
  return held;
}

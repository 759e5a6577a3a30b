import type { NamedAlert, Outcome, PeopleObserver, Saying, SeenAlert, Verdict } from "../people.ts";
import type { SentAlert } from "../receiver.ts";
import type { Episodes } from "./episodes.ts";
import type { Facts } from "./facts.ts";
import type { GateOracle } from "./gate.ts";
import type { IncidentOracle } from "./incidents.ts";
import { Possible } from "./possible.ts";
import { compareSeverity, type Severity } from "../../../src/contract/severity.ts";

/** As the API shows it; of the incident's severity then, above which it ends; null: nobody looked at the incident. */
export interface Acknowledgement {
  readonly by: string;
  readonly severity: Severity | null;
}

/** What was said of one alert. */
interface SaidOf {
  readonly alert: NamedAlert;
  readonly judgement: Possible<Verdict | null>;
  readonly acknowledgement: Possible<Acknowledgement | null>;
}

interface Comment {
  readonly saying: Saying;
  /** The alerts that it was done to; null: nobody knows whether it was stored. */
  done: readonly string[] | null;
  /** By the monotonic clock. */
  readonly saidAtMs: number;
}

/** The receiver that is notified of acts. */
const actsReceiver = "ops";

/** What people did has to be seen in the API, as each alert allows it, and is notified once to who wants to know. */
export class ActOracle implements Pick<PeopleObserver, "saying" | "said"> {
  readonly #facts: Facts;
  readonly #episodes: Episodes;
  readonly #gate: GateOracle;
  readonly #incidents: IncidentOracle;
  readonly #said = new Map<string, SaidOf>();
  /** Of those under way: what may come of each alert. */
  readonly #foreseen = new Map<Saying, ReadonlyMap<string, Set<string>>>();
  readonly #comments: Comment[] = [];
  /** Organizations whose gate somebody released. */
  readonly #released = new Set<string>();
  /** Comments of judgements that were notified, with the alert. */
  readonly #notified = new Set<string>();
  /** Alerts to be looked at once more. */
  readonly #changed = new Set<string>();

  constructor(facts: Facts, parts: { episodes: Episodes; gate: GateOracle; incidents: IncidentOracle }) {
    this.#facts = facts;
    this.#episodes = parts.episodes;
    this.#gate = parts.gate;
    this.#incidents = parts.incidents;
  }

  saying(saying: Saying): void {
    const { act, alerts, comment } = saying;
    this.#foreseen.set(saying, this.#foresee(saying));
    if (act === "release") for (const { slug } of alerts) this.#released.add(slug);
    if (comment.startsWith("said ") && act !== "unacknowledge" && act !== "withdraw")
      this.#comments.push({ saying, done: null, saidAtMs: this.#facts.monotonicMs });
    for (const alert of alerts) {
      const said = this.of(alert);
      if (act === "judge") said.judgement.await(saying, saying.verdict);
      if (act === "withdraw") said.judgement.await(saying, null);
      if (act === "acknowledge") said.acknowledgement.await(saying, this.#acknowledgement(saying));
      if (act === "unacknowledge") said.acknowledgement.await(saying, null);
    }
  }

  said(saying: Saying, outcome: Outcome): void {
    const { act, alerts, incident } = saying;
    const before = this.#foreseen.get(saying) ?? new Map<string, Set<string>>();
    this.#foreseen.delete(saying);
    this.#checkOutcome(saying, outcome, before);
    const done = this.#repeats(saying, doneOf(saying, outcome));
    const comment = this.#comments.find((one) => one.saying === saying);
    if (comment !== undefined) comment.done = done;
    for (const alert of alerts) {
      this.#changed.add(alert.id);
      const said = this.of(alert);
      const how = done === null ? "lost" : done.includes(alert.id) ? "done" : "not";
      said.judgement.settle(saying, changes.judgement.has(act) ? how : "not", act === "judge" ? saying.verdict : null);
      const acknowledged = act === "acknowledge" ? this.#acknowledgement(saying) : null;
      said.acknowledgement.settle(saying, changes.acknowledgement.has(act) ? how : "not", acknowledged);
    }
    if (incident !== null && act === "comment")
      for (const id of this.#incidents.membersOf(incident)) this.#changed.add(id);
  }

  /** What is said again of one alert is taken, and changes nothing. */
  #repeats(saying: Saying, done: readonly string[] | null): readonly string[] | null {
    const { act, incident, alerts, verdict } = saying;
    const [alert] = alerts;
    if (incident !== null || alert === undefined || (act !== "acknowledge" && act !== "judge")) return done;
    const { judgement, acknowledgement } = this.of(alert);
    const before =
      act === "judge"
        ? judgement.values(saying).map((one) => one === verdict)
        : acknowledgement.values(saying).map((one) => one !== null);
    // It may have ended, for the incident may have got worse since it was looked at last.
    const mayHaveEnded = acknowledgement.values(saying).some((one) => one !== null && one.severity !== "fail");
    if (mayHaveEnded && act === "acknowledge") return null;
    return before.includes(true) ? (before.includes(false) ? null : []) : done;
  }

  /** The incident of this alert became that severe: a weaker acknowledgement has ended, or may have. */
  worsened(id: string, severity: Severity, isSure: boolean): void {
    const isEnded = (one: Acknowledgement | null): boolean =>
      one !== null && (one.severity === null || compareSeverity(severity, one.severity) > 0);
    const acknowledgement = this.#said.get(id)?.acknowledgement;
    if (acknowledgement?.values().some(isEnded) !== true) return;
    const isKnown = acknowledgement.values().every((one) => one?.severity !== null);
    acknowledgement.happen((one) => (isEnded(one) ? null : one), isSure && isKnown);
  }

  /** To be called with a list that nothing happened amid. */
  compare(alerts: readonly SeenAlert[]): void {
    for (const { id, slug, acknowledgement, judgement } of alerts) {
      const said = this.#said.get(id);
      const verdict = judgement?.verdict ?? null;
      const isShown = (one: Acknowledgement | null): boolean =>
        one?.by === acknowledgement?.by && (one?.severity === null || one?.severity === acknowledgement?.severity);
      if (said === undefined ? acknowledgement !== undefined : !said.acknowledgement.see(isShown)) {
        const shown =
          acknowledgement === undefined ? "by nobody" : `${acknowledgement.severity} by ${acknowledgement.by}`;
        const expected = JSON.stringify(said?.acknowledgement.values() ?? []);
        this.#facts.violate(`${id} (${slug}) is shown as acknowledged ${shown}, not ${expected}`);
      }
      if (said === undefined ? verdict !== null : !said.judgement.see((one) => one === verdict))
        this.#facts.violate(`${id} (${slug}) is shown as judged ${verdict ?? "by nobody"}`);
    }
  }

  /** Looks at what was said of alerts lately, also of those that have ended. */
  async ask(): Promise<void> {
    const { world } = this.#facts;
    for (const id of this.#changed) {
      if (!this.#said.has(id)) continue;
      const { status, body } = await world.ask({ method: "GET", url: `/api/v1/alerts/${id}` });
      if (status !== 200) continue;
      this.#changed.delete(id);
      const { comments } = JSON.parse(body) as { readonly comments: readonly { readonly text: string }[] };
      const shown = comments.map(({ text }) => text).filter((text) => text.startsWith("said "));
      const expected = this.#comments
        .filter(({ saying, done }) => this.#isShownWith(id, saying, done, shown))
        .map(({ saying }) => saying.comment);
      // Of two at once either may be first.
      if (shown.toSorted().join() !== expected.toSorted().join())
        this.#facts.violate(`${id} has the comments ${shown.join()}, not ${expected.join()}`);
    }
  }

  /** A receiver accepted a notification of an act, for the first time. */
  notified(name: string, alert: SentAlert): void {
    const { id, slug, event, reason, act, judgement } = alert;
    const say = (what: string): void => this.#facts.violate(`${name}: ${event} of ${id} (${slug}): ${what}`);
    if (name !== actsReceiver) say("it is not notified of acts");
    const said = this.#said.get(id);
    if (event === "acknowledged" || event === "unacknowledged") {
      if (said === undefined) say("nobody acknowledged it");
      return;
    }
    if (event === "released") {
      if (reason === "released_by_hand" && !this.#released.has(slug)) say("nobody released it");
      if (reason === "released_by_judgement" && said === undefined) say("nobody judged it");
      return;
    }
    if (said === undefined) return say("nobody judged it");
    if (judgement === null || judgement === undefined) return;
    const comment = this.#comments.find(({ saying }) => saying.act === "judge" && saying.comment === act?.comment);
    if (comment === undefined || comment.done?.includes(id) === false) return say("nobody said that");
    const key = `${id} ${comment.saying.comment}`;
    if (this.#notified.has(key)) say(`${comment.saying.comment} once more`);
    this.#notified.add(key);
  }

  /** To be called when faults have ended long enough ago for everything to have arrived. */
  finish(routedSinceMs: (slug: string, receiver: string) => number): void {
    const refused = this.#facts.world.receivers.get(actsReceiver)?.refusedAlerts;
    for (const { saying, done, saidAtMs } of this.#comments) {
      if (saying.act !== "judge") continue;
      for (const alert of saying.alerts) {
        const episode = this.#episodes.of(alert);
        if (episode === undefined || episode.isRemoved || refused?.has(alert.id) === true) continue;
        if (done?.includes(alert.id) !== true || routedSinceMs(alert.slug, actsReceiver) > saidAtMs) continue;
        if (!this.#notified.has(`${alert.id} ${saying.comment}`))
          this.#facts.violate(
            `${actsReceiver} was never notified of "${saying.comment}", the judgement of ${alert.id}`,
          );
      }
    }
  }

  of(alert: NamedAlert): SaidOf {
    const known = this.#said.get(alert.id) ?? {
      alert,
      judgement: new Possible<Verdict | null>(null),
      acknowledgement: new Possible<Acknowledgement | null>(null),
    };
    this.#said.set(alert.id, known);
    return known;
  }

  #acknowledgement({ by, incident }: Saying): Acknowledgement {
    return { by, severity: incident === null ? null : this.#incidents.severityOf(incident) };
  }

  /** A comment is shown with each alert it was made on; one on the incident, with each of its alerts (CONTRACT 15). */
  #isShownWith(id: string, saying: Saying, done: Comment["done"], shown: readonly string[]): boolean {
    const isOfAll = saying.act === "comment" && saying.incident !== null && saying.slugs === null && done?.length !== 0;
    const isOf = isOfAll
      ? this.#incidents.membersOf(saying.incident).has(id)
      : (done ?? saying.alerts.map((one) => one.id)).includes(id);
    // One whose answer was lost may be there.
    return isOf && (done !== null || shown.includes(saying.comment));
  }

  /** What CONTRACT 12, 13 and 15 let come of each alert now: `done`, or why not. */
  #foresee(saying: Saying): ReadonlyMap<string, Set<string>> {
    return new Map(saying.alerts.map((alert) => [alert.id, this.#foreseeOne(saying, alert)]));
  }

  #foreseeOne(saying: Saying, alert: NamedAlert): Set<string> {
    const { act, incident, verdict } = saying;
    const episode = this.#episodes.of(alert);
    if (episode === undefined) return new Set();
    const said = this.of(alert);
    const isOfOne = incident === null;
    const judgements = said.judgement.values(saying);
    const acknowledgements = said.acknowledgement.values(saying);
    // A judgement of the incident leaves alerts that were judged apart; the scenario of incidents has it exactly.
    const isApart = !isOfOne && saying.slugs === null && judgements.some((one) => one !== null);
    const apart = isApart ? ["judged_apart"] : [];
    switch (act) {
      case "acknowledge":
        if (episode.endsAtMs !== null) return new Set(["ended"]);
        return new Set(acknowledgements.map((one) => (one === null || isOfOne ? "done" : "already")));
      case "unacknowledge":
        if (episode.endsAtMs !== null) return new Set(["ended"]);
        return new Set(acknowledgements.map((one) => (one === null ? "already" : "done")));
      case "judge":
        if (alert.kind === "unknown") return new Set(["not_judged_kind"]);
        return new Set([...apart, ...judgements.map((one) => (one === verdict && !isOfOne ? "already" : "done"))]);
      case "withdraw":
        return new Set([...apart, ...judgements.map((one) => (one === null ? "already" : "done"))]);
      case "release":
        return isOfOne ? new Set(["done"]) : this.#gate.release(saying, episode);
      case "silence":
        // A silence of before may be as long.
        return new Set(episode.endsAtMs === null ? ["done", "already"] : ["ended"]);
      case "comment":
      default:
        return new Set(["done"]);
    }
  }

  #checkOutcome(saying: Saying, outcome: Outcome, before: ReadonlyMap<string, Set<string>>): void {
    const { act, by, alerts, incident, slugs } = saying;
    const { world, organizations } = this.#facts;
    if (outcome === "lost" || outcome === "away" || world.isReloading || world.upSinceMs === null) return;
    const after = this.#foresee(saying);
    const may = (id: string): Set<string> => new Set([...(before.get(id) ?? []), ...(after.get(id) ?? [])]);
    const say = (what: string): void =>
      this.#facts.violate(`${by}'s ${act} ${incident === null ? "" : `of incident ${incident}: `}${what}`);
    const isForbidden = gateActs.has(act) && by !== "token";
    if (outcome === "refused") {
      const isRefused =
        incident === null
          ? alerts.some(({ id, slug }) => !organizations.has(slug) || may(id).size !== 1 || !may(id).has("done"))
          : this.#incidents.mayRefuse(incident, act) || alerts.length === 0;
      if (!isForbidden && !isRefused) say(`was refused for ${alerts.map(({ slug }) => slug).join()}`);
      return;
    }
    if (isForbidden) return say("was not refused");
    if (outcome === "done") {
      for (const { id, slug } of alerts)
        if (may(id).size > 0 && !may(id).has("done"))
          say(`was done to ${id} (${slug}), which is ${[...may(id)].join()}`);
      return;
    }
    const answered = new Map([
      ...outcome.done.map(({ alertId }) => [alertId, "done"] as const),
      ...outcome.skipped.map(({ alertId, reason }) => [alertId, reason] as const),
    ]);
    for (const { id, slug } of alerts) {
      const found = answered.get(id) ?? "left out";
      if (may(id).size > 0 && !may(id).has(found)) say(`${id} (${slug}) is ${found}, not ${[...may(id)].join(" or ")}`);
    }
    for (const { slug } of [...outcome.done, ...outcome.skipped])
      if (slugs?.includes(slug) === false) say(`has to do with ${slug}`);
  }
}

const gateActs: ReadonlySet<string> = new Set(["judge", "withdraw", "release"]);
const changes = {
  judgement: new Set<string>(["judge", "withdraw"]),
  acknowledgement: new Set<string>(["acknowledge", "unacknowledge"]),
};

/** The ids of those that it was done to; null: nobody knows. */
export function doneOf({ alerts }: Saying, outcome: Outcome): readonly string[] | null {
  if (outcome === "lost") return null;
  if (outcome === "done") return alerts.map(({ id }) => id);
  return typeof outcome === "string" ? [] : outcome.done.map(({ alertId }) => alertId);
}

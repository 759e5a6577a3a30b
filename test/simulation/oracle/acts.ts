import type { NamedAlert, PeopleObserver, Saying, Verdict } from "../people.ts";
import type { SentAlert } from "../receiver.ts";
import type { Episode, Episodes } from "./episodes.ts";
import type { Facts } from "./facts.ts";

/** What was said of one alert, and what may be so of it: more than one value while an answer is awaited, or was lost. */
interface SaidOf {
  readonly alert: NamedAlert;
  judgements: Set<Verdict | null>;
  /** With which severity; null: it is not. */
  acknowledgements: Set<string | null>;
  /** In order. */
  readonly comments: Comment[];
}

interface Comment {
  readonly text: string;
  /** null: nobody knows whether it was stored. */
  isStored: boolean | null;
  /** Of a judgement, which receivers with `sendActs` are notified of. */
  readonly isJudgement: boolean;
  /** By the monotonic clock. */
  readonly saidAtMs: number;
}

/** As `GET /api/v1/alerts` lists it. */
export interface ListedAlert {
  readonly id: string;
  readonly slug: string;
  readonly acknowledged: boolean;
  readonly judgement: { readonly verdict: Verdict } | null;
}

/** The receiver that is notified of acts. */
const actsReceiver = "ops";

/** What people did has to be seen in the API, and is notified once to who wants to know. */
export class ActOracle implements Pick<PeopleObserver, "saying" | "said"> {
  readonly #facts: Facts;
  readonly #episodes: () => Episodes;
  readonly #said = new Map<string, SaidOf>();
  /** Organizations whose gate somebody released. */
  readonly #released = new Set<string>();
  /** Comments of judgements that were notified. */
  readonly #notified = new Set<string>();
  /** Alerts to be looked at once more. */
  readonly #changed = new Set<string>();

  constructor(facts: Facts, episodes: () => Episodes) {
    this.#facts = facts;
    this.#episodes = episodes;
  }

  saying(saying: Saying): void {
    if (saying.act === "release") return void this.#released.add(saying.slug);
    const said = this.#of(saying.alert);
    if (saying.act === "judge" || saying.act === "comment")
      said.comments.push({
        text: saying.comment,
        isStored: null,
        isJudgement: saying.act === "judge",
        saidAtMs: this.#facts.monotonicMs,
      });
    this.#apply(said, saying, (values, value) => values.add(value));
  }

  said(saying: Saying, isDone: boolean | null): void {
    if (saying.act === "release") return;
    const said = this.#of(saying.alert);
    this.#changed.add(saying.alert.id);
    const comment = "comment" in saying ? said.comments.find(({ text }) => text === saying.comment) : undefined;
    if (comment !== undefined) comment.isStored = isDone;
    if (isDone !== true) return;
    this.#apply(said, saying, (values, value) => {
      values.clear();
      values.add(value);
    });
  }

  /** An alert became a failure: what was acknowledged as a warning is so no longer. */
  failed(episode: Episode): void {
    for (const said of this.#said.values()) {
      if (!said.acknowledgements.has("warn") || this.#episodes().of(said.alert) !== episode) continue;
      said.acknowledgements.delete("warn");
      said.acknowledgements.add(null);
    }
  }

  /** What may be said of the alerts now, to be compared with a list that is asked for at this moment. */
  expected(): ReadonlyMap<string, { readonly judgements: Set<unknown>; readonly acknowledged: Set<boolean> }> {
    return new Map(
      [...this.#said].map(([id, { judgements, acknowledgements }]) => [
        id,
        {
          judgements: new Set<unknown>(judgements),
          acknowledged: new Set([...acknowledgements].map((severity) => severity !== null)),
        },
      ]),
    );
  }

  /** What was recorded while it answered may be in the answer. */
  compare(alerts: readonly ListedAlert[], before: ReturnType<ActOracle["expected"]>): void {
    const after = this.expected();
    for (const { id, slug, acknowledged, judgement } of alerts) {
      const verdict = judgement?.verdict ?? null;
      const expected = [before.get(id), after.get(id)].filter((one) => one !== undefined);
      const isAcknowledged = (one: { acknowledged: Set<boolean> }): boolean => one.acknowledged.has(acknowledged);
      if (expected.length === 0 ? acknowledged : !expected.some(isAcknowledged))
        this.#facts.violate(`${id} (${slug}) is shown as ${acknowledged ? "" : "not "}acknowledged`);
      if (expected.length === 0 ? verdict !== null : !expected.some(({ judgements }) => judgements.has(verdict)))
        this.#facts.violate(`${id} (${slug}) is shown as judged ${verdict ?? "by nobody"}`);
    }
  }

  /** Looks at what was said of alerts lately, also of those that have ended. */
  async ask(): Promise<void> {
    const { world } = this.#facts;
    for (const id of this.#changed) {
      const said = this.#said.get(id);
      if (said === undefined) continue;
      const { status, body } = await world.ask({ method: "GET", url: `/api/v1/alerts/${id}` });
      if (status !== 200) continue;
      this.#changed.delete(id);
      const { comments } = JSON.parse(body) as { readonly comments: readonly { readonly text: string }[] };
      const shown = comments.map(({ text }) => text).filter((text) => text.startsWith("said "));
      // One whose answer was lost may be there.
      const expected = said.comments.filter(
        ({ text, isStored }) => isStored === true || (isStored === null && shown.includes(text)),
      );
      if (shown.join() !== expected.map(({ text }) => text).join())
        this.#facts.violate(`${id} has the comments ${shown.join()}, not ${expected.map(({ text }) => text).join()}`);
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
    const comment = said.comments.find(({ text }) => text === act?.comment);
    if (comment === undefined || comment.isStored === false) return say("nobody said that");
    if (this.#notified.has(comment.text)) say(`${comment.text} once more`);
    this.#notified.add(comment.text);
  }

  /** To be called when faults have ended long enough ago for everything to have arrived. */
  finish(routedSinceMs: (slug: string, receiver: string) => number): void {
    const refused = this.#facts.world.receivers.get(actsReceiver)?.refusedAlerts;
    for (const { alert, comments } of this.#said.values()) {
      const episode = this.#episodes().of(alert);
      if (episode === undefined || episode.isRemoved || refused?.has(alert.id) === true) continue;
      for (const { text, isStored, isJudgement, saidAtMs } of comments) {
        if (!isJudgement || isStored !== true || routedSinceMs(alert.slug, actsReceiver) > saidAtMs) continue;
        if (!this.#notified.has(text))
          this.#facts.violate(`${actsReceiver} was never notified of "${text}", the judgement of ${alert.id}`);
      }
    }
  }

  #of(alert: NamedAlert): SaidOf {
    const known = this.#said.get(alert.id) ?? {
      alert,
      judgements: new Set<Verdict | null>([null]),
      acknowledgements: new Set<string | null>([null]),
      comments: [],
    };
    this.#said.set(alert.id, known);
    return known;
  }

  #apply(said: SaidOf, saying: Saying, change: <Value>(values: Set<Value>, value: Value) => void): void {
    const severity = this.#episodes().of(said.alert)?.severities.at(-1) ?? "unknown";
    if (saying.act === "judge") change<Verdict | null>(said.judgements, saying.verdict);
    if (saying.act === "withdraw") change<Verdict | null>(said.judgements, null);
    if (saying.act === "acknowledge") change<string | null>(said.acknowledgements, severity);
    if (saying.act === "unacknowledge") change<string | null>(said.acknowledgements, null);
  }
}

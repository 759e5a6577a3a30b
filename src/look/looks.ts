import { FlatlineError } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import type { Logger } from "../base/logger.ts";
import { createLoop, type Loop } from "../base/loop.ts";
import { minuteMs, secondMs, type Clock } from "../base/time.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import type { Look } from "../store/alerts/looks.ts";
import type { Store } from "../store/store.ts";
import { planLook, seededRandom, type LookSources } from "./plan.ts";
import { judgeLook } from "./verdict.ts";
import { askVerifier, type Verifier, type VerifierAnswers } from "./verifier.ts";

/** The settings of second opinions (CONTRACT 16). */
export interface LookSettings extends Pick<LookSources, "sentinelsOf"> {
  readonly sample: number;
  readonly control: number;
  readonly againMs: number;
  readonly verifier: Verifier;
}

export interface LooksOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dispatcher: HttpDispatcher;
  readonly metrics: Pick<Metrics, "assetLookedAt" | "opinionGiven">;
  readonly newId: () => string;
  readonly sources: Omit<LookSources, "sentinelsOf">;
  /** Read before each look, so that a reload counts; null: not configured. */
  readonly settings: () => LookSettings | null;
  readonly onChange: () => void;
}

/** Second opinions (CONTRACT 16): asks the verifier about one incident after the other. */
export interface Looks extends Pick<Loop, "start" | "stop"> {
  /** Begins a look for a person. @throws usage: no look is possible; too_many: within a minute of the last */
  ask(incident: Incident): Promise<Look>;
}

// CONTRACT 16.
const mostByItself = 3;
const leastPauseMs = minuteMs;

/** Creates the looks. A look that a process began and did not end is made by the next process. */
export function createLooks(options: LooksOptions): Looks {
  const { store, clock, logger, metrics, settings, onChange } = options;
  const onError = (err: unknown): void => logger.error({ err }, "second opinion failed, trying again");
  const loop = createLoop({ clock, everyMs: 5 * secondMs, runOnce, onError });

  async function runOnce(): Promise<void> {
    if (settings() === null) return;
    // Looks that a person asked for, or that an earlier process began.
    for (const waiting of await store.looks.waiting()) await run(waiting);
    for (const { number: incidentNumber, family } of await store.incidents.open()) {
      if (family !== "deaths") continue;
      const looks = await store.looks.of(incidentNumber);
      const own = looks.filter(({ isByHand }) => !isByHand);
      const startedAtMs = clock.nowMs();
      const notBeforeMs = (own.at(-1)?.startedAtMs ?? -Infinity) + (settings()?.againMs ?? Infinity);
      if (own.length >= mostByItself || startedAtMs < notBeforeMs) continue;
      const look = { incidentNumber, number: looks.length + 1, startedAtMs, isByHand: false };
      if (await store.looks.begin(look)) await run({ ...look, endedAtMs: null });
    }
  }

  async function run(look: Look): Promise<void> {
    const set = settings();
    if (loop.signal.aborted || set === null) return;
    onChange();
    try {
      await lookAt(look, set);
    } catch (error) {
      const { incidentNumber: incident, number } = look;
      logger.warn({ err: error, incident, look: number }, "second opinion could not be given");
      await store.looks.end(look, clock.nowMs());
    }
    onChange();
  }

  async function lookAt(look: Look, set: LookSettings): Promise<void> {
    const { incidentNumber, number } = look;
    const incident = await store.incidents.find(incidentNumber);
    if (incident === null) throw new FlatlineError("not_found", "the incident is gone");
    const members = (await store.incidents.members([incidentNumber])).get(incidentNumber) ?? [];
    const plan = await planLook(members, set, { ...set, ...options.sources }, seededRandom(`${incident.id}/${number}`));
    if (plan.length === 0) return store.looks.end(look, clock.nowMs());
    const assets = plan.map(({ asset, assetType }) => ({ asset, assetType }));
    const by = { ...options, id: options.newId(), signal: loop.signal };
    let said: VerifierAnswers | null = null;
    try {
      said = await askVerifier(set.verifier, { incidentId: incident.id, assets }, by);
    } catch (error) {
      // The verifier's address may be secret, so our errors do not contain it.
      logger.warn({ err: error, incident: incidentNumber, assets: assets.length }, "verifier gave no answer");
    }
    // The next process makes the look again.
    if (loop.signal.aborted) return;
    const answers = plan.map((planned) => {
      const { answer = "undecided", detail = null } = said?.get(planned.asset) ?? {};
      return { ...planned, answer, detail } as const;
    });
    const atMs = clock.nowMs();
    const opinion = {
      ...judgeLook(answers),
      ...(said === null ? { failure: "no_answer" as const } : {}),
      ...("file" in set.verifier ? { isRecorded: true } : {}),
      atMs,
      look: number,
    };
    await store.transaction(async ({ incidents, looks }) => {
      await looks.addAnswers(look, answers);
      await looks.end(look, atMs);
      const current = await incidents.find(incidentNumber);
      if (current !== null) await incidents.save({ ...current, secondOpinion: opinion });
    });
    for (const { answer } of answers) metrics.assetLookedAt(answer);
    metrics.opinionGiven(opinion.verdict);
    logger.info({ incident: incidentNumber, ...opinion }, "second opinion given");
  }

  async function ask({ number: incidentNumber, family }: Incident): Promise<Look> {
    if (settings() === null) throw new FlatlineError("usage", "no second opinion is configured: set secondOpinion");
    if (family !== "deaths") throw new FlatlineError("usage", `an incident of ${family} has no dead assets to look at`);
    const looks = await store.looks.of(incidentNumber);
    const [last, startedAtMs] = [looks.at(-1), clock.nowMs()];
    const isFree = last === undefined || (last.endedAtMs !== null && startedAtMs - last.startedAtMs >= leastPauseMs);
    const look = { incidentNumber, number: looks.length + 1, startedAtMs, isByHand: true };
    const why = "this incident is being looked at, or was within the last minute: ask again in a minute";
    if (!isFree || !(await store.looks.begin(look))) throw new FlatlineError("too_many", why);
    loop.wake();
    return { ...look, endedAtMs: null };
  }

  return { start: loop.start, stop: loop.stop, ask };
}

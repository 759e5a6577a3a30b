import { FlatlineError } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import type { Logger } from "../base/logger.ts";
import { createLoop, type Loop } from "../base/loop.ts";
import { minuteMs, secondMs, type Clock } from "../base/time.ts";
import type { LookAnswer } from "../contract/second-opinion.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Incident } from "../store/alerts/incidents.ts";
import type { Look, LookedAt } from "../store/alerts/looks.ts";
import type { Store } from "../store/store.ts";
import { askAll } from "./ask.ts";
import { createControls } from "./controls.ts";
import { planLook, type LookSources, type Planned } from "./plan.ts";
import { createProber, type ProberProgram } from "./prober/prober.ts";
import { seededRandom } from "./sample.ts";
import type { LookSettings } from "./settings.ts";
import { judgeLook } from "./verdict.ts";
import { askVerifier, readRecorded } from "./verifier.ts";

export interface LooksOptions extends Pick<LookSources, "diedIn"> {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dispatcher: HttpDispatcher;
  readonly metrics: Pick<Metrics, "assetLookedAt" | "opinionGiven">;
  readonly program: ProberProgram;
  readonly newId: () => string;
  /** Asked before each look, so that a reload changes it; null: none is configured. */
  readonly settings: () => LookSettings | null;
  /** Called when a look has begun, has another answer, or has ended. */
  readonly onChange: () => void;
}

/** Second opinions (CONTRACT 16): looks at incidents, one after the other. */
export interface Looks extends Pick<Loop, "start" | "stop"> {
  /**
   * Begins a look that a person asks for, and returns it before it has ended.
   * @throws usage where it cannot look at this incident, too_many within a minute of the last look
   */
  ask(incident: Incident): Promise<Look>;
}

// CONTRACT 16.
const mostByItself = 3;
const leastPauseMs = minuteMs;
const everyMs = 5 * secondMs;
// Renewed with each answer.
const leaseMs = 5 * minuteMs;

/** Creates the looks; one that a process has begun and not ended is begun again by another. */
export function createLooks(options: LooksOptions): Looks {
  const { store, clock, logger, metrics, settings, onChange } = options;
  const controls = createControls(store.evidence, clock);
  const loop = createLoop({
    clock,
    everyMs,
    runOnce,
    onError: (error) => logger.error({ err: error }, "second opinion failed, trying again"),
  });

  async function runOnce(): Promise<void> {
    if (settings() === null) return;
    // What a person asked for, or a process that has died began.
    for (const waiting of await store.looks.waiting(clock.nowMs())) {
      const look = await claim(waiting);
      if (look !== null) await run(look);
      if (loop.signal.aborted) return;
    }
    for (const incident of await store.incidents.open()) {
      if (incident.family !== "deaths") continue;
      const look = await claimDue(incident);
      if (look !== null) await run(look);
      if (loop.signal.aborted) return;
    }
  }

  /** A look that is due of itself; null: none is. */
  async function claimDue({ number: incidentNumber }: Incident): Promise<Look | null> {
    const looks = await store.looks.of(incidentNumber);
    const nowMs = clock.nowMs();
    if (looks.some(({ endedAtMs }) => endedAtMs === null)) return null;
    const own = looks.filter(({ isByHand }) => !isByHand);
    const last = own.at(-1);
    const { againMs } = settings() ?? { againMs: Infinity };
    if (last !== undefined && (own.length >= mostByItself || nowMs < last.startedAtMs + againMs)) return null;
    return claim({ incidentNumber, number: looks.length + 1, isByHand: false });
  }

  async function claim(next: Pick<Look, "incidentNumber" | "number" | "isByHand">): Promise<Look | null> {
    const { incidentNumber, number, isByHand } = next;
    const look = { incidentNumber, number, isByHand, startedAtMs: clock.nowMs(), leaseUntilMs: leaseEnd(), planned: 0 };
    return (await store.transaction(({ looks }) => looks.claim(look))) ? { ...look, endedAtMs: null } : null;
  }

  /** An answer takes as long as the prober has for it, that of a verifier as long as it has. */
  function leaseEnd(): number {
    return clock.nowMs() + leaseMs + (settings()?.verifier?.timeoutMs ?? 0);
  }

  async function run(look: Look): Promise<void> {
    const { incidentNumber, number } = look;
    const set = settings();
    const incident = await store.incidents.find(incidentNumber);
    if (incident === null || set === null) return store.looks.save({ ...look, endedAtMs: clock.nowMs() });
    try {
      await lookAt(look, incident, set);
    } catch (error) {
      logger.warn({ err: error, incident: incidentNumber, look: number }, "second opinion could not be given");
      await store.looks.save({ ...look, endedAtMs: clock.nowMs() });
    }
    onChange();
  }

  async function lookAt(begun: Look, incident: Incident, set: LookSettings): Promise<void> {
    const { incidentNumber, number } = begun;
    const random = seededRandom(`${incident.id}/${number}`);
    const members = (await store.incidents.members([incidentNumber])).get(incidentNumber) ?? [];
    const sources: LookSources = {
      diedIn: options.diedIn,
      ...controls,
      takeHost: (host) => store.looks.takeHost(host, clock.nowMs()),
    };
    const plan = await planLook(members, set, sources, random);
    const look = { ...begun, planned: plan.filter(({ role }) => role === "sample").length };
    const answers: (LookedAt & { readonly isSentinel: boolean })[] = [];
    await store.looks.save({ ...look, leaseUntilMs: leaseEnd() });
    onChange();
    const { dns, http, hosts } = set;
    const prober = createProber({
      ...options.program,
      clock,
      onFailure: (waiting) =>
        logger.warn(
          { incident: incidentNumber, look: number, waiting },
          "prober failed, what it was asked is undecided",
        ),
      settings: {
        dnsServers: [...(dns?.servers ?? [])],
        http:
          http === null ? null : { proxy: http.proxy.reveal(), userAgent: http.userAgent, timeoutMs: http.timeoutMs },
        hosts: [...hosts],
        allow: [...(http?.allow ?? [])],
      },
    });
    // A stop does not wait for what hangs.
    const giveUp = (): void => void prober.stop();
    loop.signal.addEventListener("abort", giveUp, { once: true });
    try {
      await askAll(plan, {
        settings: set,
        prober,
        clock,
        signal: loop.signal,
        verify: (assets) => verify(set, incident, assets),
        onAnswer: async (place, answer) => {
          answers.push({ ...answer, isSentinel: plan[place]?.isSentinel === true });
          metrics.assetLookedAt(answer.answer);
          await store.looks.addAnswer(look, place, answer);
          await store.looks.save({ ...look, leaseUntilMs: leaseEnd() });
          onChange();
        },
      });
    } finally {
      loop.signal.removeEventListener("abort", giveUp);
      await prober.stop();
    }
    // The next process begins it again, with other hosts.
    if (loop.signal.aborted) return store.looks.save({ ...look, leaseUntilMs: 0 });
    const atMs = clock.nowMs();
    const isRecorded = set.recorded !== null;
    const opinion = {
      ...judgeLook(answers, http === null && set.verifier === null && !isRecorded),
      ...(isRecorded ? { isRecorded } : {}),
    };
    await store.transaction(async ({ incidents, looks }) => {
      await incidents.takeTurn(incident.family);
      await looks.save({ ...look, endedAtMs: atMs });
      const current = await incidents.find(incidentNumber);
      if (current !== null && plan.length > 0)
        await incidents.save({ ...current, secondOpinion: { ...opinion, atMs, look: number } });
    });
    if (plan.length > 0) metrics.opinionGiven(opinion.verdict);
    const { asked: count, alive, gone, verdict } = opinion;
    logger.info({ incident: incidentNumber, look: number, asked: count, alive, gone, verdict }, "second opinion given");
  }

  async function verify(
    { verifier, recorded }: LookSettings,
    { id: incidentId }: Incident,
    planned: readonly Planned[],
  ): Promise<ReadonlyMap<string, LookAnswer>> {
    const assets = planned.map(({ asset, assetType }) => ({ asset, assetType }));
    try {
      if (recorded !== null) return await readRecorded(recorded);
      if (verifier === null) return new Map();
      const question = { incidentId, id: options.newId(), assets };
      return await askVerifier(verifier, question, { ...options, signal: loop.signal });
    } catch (error) {
      // Its address may be a secret, which no error of ours has.
      logger.warn({ err: error, assets: assets.length }, "verifier gave no answer");
      return new Map();
    }
  }

  return {
    start: loop.start,
    stop: loop.stop,
    ask: async ({ number: incidentNumber, family }) => {
      if (settings() === null) throw new FlatlineError("usage", "no second opinion is configured: set secondOpinion");
      if (family !== "deaths")
        throw new FlatlineError("usage", `an incident of ${family} has no dead assets to look at`);
      const looks = await store.looks.of(incidentNumber);
      const last = looks.at(-1);
      if (last !== undefined && (last.endedAtMs === null || clock.nowMs() - last.startedAtMs < leastPauseMs))
        throw tooSoon();
      const [number, startedAtMs] = [looks.length + 1, clock.nowMs()];
      const look = { incidentNumber, number, startedAtMs, isByHand: true, leaseUntilMs: 0, planned: 0 };
      if (!(await store.transaction((parts) => parts.looks.claim(look)))) throw tooSoon();
      loop.wake();
      return { ...look, endedAtMs: null };
    },
  };
}

function tooSoon(): FlatlineError {
  return new FlatlineError(
    "too_many",
    "this incident is being looked at, or was within the last minute: ask again in a minute",
  );
}

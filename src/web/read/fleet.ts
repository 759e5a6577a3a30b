import { heldGates, holdersIn, isGateAlert, releaseOf } from "../../alerting/decide/gate.ts";
import { nextSilenceChangeAtMs } from "../../alerting/decide/silences.ts";
import { isGateUsed } from "../../alerting/gate-use.ts";
import { alertViewer, silenceRules } from "../../alerting/view.ts";
import { dayMs, minuteMs } from "../../base/time.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { Running } from "./running.ts";

/** Live alerts, open incidents and gates at one moment; page, status, metrics and API all use it. */
export type FleetSnapshot = Awaited<ReturnType<typeof readFleet>>;

/** Work left on ended incidents: a gate on hold, or a failure without a judgement (CONTRACT 15). */
export type Unfinished = ReturnType<typeof unfinishedOf>;

type Parts = Pick<Running, "store" | "clock" | "settings" | "version">;
type Rules = ReturnType<Running["settings"]>;

/** Returns the current snapshot; a new one is made after a change, or when time changes it. */
export function createFleetSnapshots(parts: Parts): () => Promise<FleetSnapshot> {
  let known: ReturnType<typeof begin> | null = null;
  function begin(version: string, rules: Rules, fromMs: number) {
    const own = { version, rules, fromMs, untilMs: Infinity, snapshot: readFleet(parts, rules) };
    own.snapshot.then(
      ({ untilMs }) => (own.untilMs = untilMs),
      () => (own.untilMs = -Infinity),
    );
    return own;
  }
  return () => {
    const [version, rules, nowMs] = [parts.version(), parts.settings(), parts.clock.nowMs()];
    const isOther = known?.version !== version || known.rules !== rules;
    // The clock may have been set back.
    if (known === null || isOther || nowMs < known.fromMs || nowMs >= known.untilMs)
      known = begin(version, rules, nowMs);
    return known.snapshot;
  };
}

/** Keeps what is computed from a snapshot as long as the snapshot. */
export function ofSnapshot<Answer>(compute: (running: Running, fleet: FleetSnapshot) => Answer) {
  const answers = new WeakMap<FleetSnapshot, Answer>();
  return (running: Running, fleet: FleetSnapshot): Answer => {
    const answer = answers.get(fleet) ?? compute(running, fleet);
    answers.set(fleet, answer);
    return answer;
  };
}

async function readFleet({ store, clock }: Parts, rules: Rules) {
  const nowMs = clock.nowMs();
  const view = await alertViewer(store, rules, nowMs);
  const live = (await store.alerts.allLive()).toSorted(byUrgency);
  const failures = await store.gate.unreleased(live);
  const open = await store.incidents.open();
  const asked = (await isGateUsed(store, rules, nowMs)) ? failures : [];
  const silenceMs = nextSilenceChangeAtMs(await silenceRules(store, rules, nowMs), nowMs);
  const weeksMs = asked.flatMap(({ end }) => (end === null ? [] : end.atMs + askedForMs)).filter((ms) => ms > nowMs);
  const minuteEndMs = Math.floor(nowMs / minuteMs + 1) * minuteMs;
  return {
    nowMs,
    /** When time changes it: the minute ends, a silence begins or ends, or the week of a judgement is over. */
    untilMs: [silenceMs, minuteEndMs, ...weeksMs].reduce((first, atMs) => Math.min(first, atMs)),
    /** Firing before pending, then the oldest first. */
    alerts: live.map(view),
    open,
    /** Failures that nobody has released. */
    failures,
    /** The start of each gate's hold, by slug; it includes organizations that are no longer configured. */
    held: heldGates(failures, (slug) => rules.gateOf(slug)),
    /** The numbers of the incidents that hold them. */
    holders: holdersIn(failures.filter((one) => releaseOf(one, rules.gateOf(one.slug)) === null)),
    unfinished: unfinishedOf(asked, rules, { open, nowMs }),
    outbox: await store.outbox.totals(),
  };
}

function byUrgency(left: Alert, right: Alert): number {
  if (left.state !== right.state) return left.state === "firing" ? -1 : 1;
  return left.startsAtMs - right.startsAtMs || (left.slug < right.slug ? -1 : 1);
}

// flatline asks for a judgement for a week after the end.
const askedForMs = 7 * dayMs;

function unfinishedOf(
  failures: readonly GateFailure[],
  { gateOf }: Pick<ReturnType<Running["settings"]>, "gateOf">,
  { open, nowMs }: { readonly open: readonly Incident[]; readonly nowMs: number },
) {
  const isOpen = new Set(open.map(({ number }) => number));
  /** Numbers of incidents, and slugs whose gate an ended alert still holds. */
  const [incidents, gates] = [new Set<number>(), new Set<string>()];
  for (const failure of failures) {
    const { slug, end, judgement, incident } = failure;
    if (end === null) continue;
    const isHeld = releaseOf(failure, gateOf(slug)) === null;
    const isAsked = isGateAlert(failure) && judgement === undefined && nowMs < end.atMs + askedForMs;
    if (isHeld) gates.add(slug);
    const number = incident?.number;
    if (number !== undefined && !isOpen.has(number) && (isHeld || isAsked)) incidents.add(number);
  }
  return { incidents, gates };
}

import { heldGates, isGateAlert, releaseOf } from "../../alerting/decide/gate.ts";
import { isGateUsed } from "../../alerting/gate-use.ts";
import { alertViewer } from "../../alerting/view.ts";
import { dayMs, secondMs } from "../../base/time.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { Running } from "./running.ts";

/** What lives, at one moment: page, frame, lists, status, metrics and API all say what it says. */
export type FleetSnapshot = Awaited<ReturnType<typeof readFleet>>;

/** What is left to do of incidents that have ended: a gate is still on hold, or nobody has judged a failure (CONTRACT 15). */
export type Unfinished = ReturnType<typeof unfinishedOf>;

type Parts = Pick<Running, "store" | "clock" | "settings" | "version">;

/** Returns the snapshot of now: made when something has changed, or a second has passed, for whoever asks first. */
export function createFleetSnapshots(parts: Parts): () => Promise<FleetSnapshot> {
  let known: { readonly key: string; readonly snapshot: Promise<FleetSnapshot> } | null = null;
  return async () => {
    const key = `${parts.version()} ${Math.floor(parts.clock.nowMs() / secondMs)}`;
    if (known?.key === key) return known.snapshot;
    const own = { key, snapshot: readFleet(parts) };
    known = own;
    try {
      return await own.snapshot;
    } catch (error) {
      if (known === own) known = null;
      throw error;
    }
  };
}

async function readFleet({ store, clock, settings }: Parts) {
  const nowMs = clock.nowMs();
  const rules = settings();
  const view = await alertViewer(store, rules, nowMs);
  const live = (await store.alerts.allLive()).toSorted(byUrgency);
  const failures = await store.gate.unreleased(live);
  const open = await store.incidents.open();
  const asked = (await isGateUsed(store, rules, nowMs)) ? failures : [];
  return {
    nowMs,
    /** Firing before pending, then the oldest first. */
    alerts: live.map(view),
    open,
    /** Failures that no hand has released. */
    failures,
    /** Since when gates are on hold by them, by organization; those that are no longer configured, too. */
    held: heldGates(failures, (slug) => rules.gateOf(slug)),
    unfinished: unfinishedOf(asked, rules, { open, nowMs }),
    outbox: await store.outbox.totals(),
  };
}

function byUrgency(left: Alert, right: Alert): number {
  if (left.state !== right.state) return left.state === "firing" ? -1 : 1;
  return left.startsAtMs - right.startsAtMs || (left.slug < right.slug ? -1 : 1);
}

// A failure that was not judged within a week is no longer asked about.
const askedForMs = 7 * dayMs;

function unfinishedOf(
  failures: readonly GateFailure[],
  { gateOf }: Pick<ReturnType<Running["settings"]>, "gateOf">,
  { open, nowMs }: { readonly open: readonly Incident[]; readonly nowMs: number },
) {
  const isOpen = new Set(open.map(({ number }) => number));
  /** Their numbers, and the organizations whose gate an alert that is over still holds. */
  const [incidents, gates] = [new Set<number>(), new Set<string>()];
  for (const failure of failures) {
    const { slug, end, judgement, incident } = failure;
    if (end === null) continue;
    const isHeld = releaseOf(failure, gateOf(slug)) === null;
    const isAsked = isGateAlert(failure) && judgement === undefined && nowMs - end.atMs <= askedForMs;
    if (isHeld) gates.add(slug);
    const number = incident?.number;
    if (number !== undefined && !isOpen.has(number) && (isHeld || isAsked)) incidents.add(number);
  }
  return { incidents, gates };
}

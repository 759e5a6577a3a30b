import type { Clock } from "../../base/time.ts";
import type { LeasedEntry } from "../../store/alerts/outbox.ts";
import type { OutboxReceiver } from "./attempt.ts";
import { createRateWindow } from "./rate-limit.ts";

/** An entry with the lease under which it may be delivered. */
export interface Leased {
  readonly entry: LeasedEntry;
  /** When its lease was asked for, by both clocks: one may be set, the other stands while the machine sleeps. */
  readonly askedMs: number;
  readonly askedAtMs: number;
}

/**
 * What one receiver's deliveries share: places, rate limit and the shelf of what is leased ahead; none of it touches
 * another receiver. Pauses that the receiver asks for are in the store, which then gives nothing of it away.
 */
export interface Lane {
  settings: OutboxReceiver;
  /** For how long the rate limit lets none begin, ms; 0: one may. */
  freeInMs(): number;
  /** Nothing is under way and every answer is recorded. */
  isIdle(): boolean;
  begin(): void;
  /** The receiver has answered: its place is free. */
  answered(): void;
  /** What it answered is in the store, or never will be. */
  recorded(): void;
  /** Whether so many answers wait to be recorded that no more is asked. */
  isUnrecorded(): boolean;
  /** Whether a look at the queue is worth it. */
  isLow(): boolean;
  /** How many entries to lease now, what is begun at once included; 0: enough lie on the shelf. */
  wanted(): number;
  /** Puts what was leased on the shelf, the oldest first. */
  shelve(leased: readonly Leased[]): void;
  /** Takes the oldest from the shelf if one may begin now: there is a place, and its lease is long enough. */
  take(): Leased | null;
  /** Takes all from the shelf that can't begin while their lease is long enough. */
  takeStale(): readonly Leased[];
  /** Takes all from the shelf. */
  takeAll(): readonly Leased[];
  /** For how long what lies on the shelf may still begin, ms; Infinity: it is empty. */
  staleInMs(): number;
  hasShelved(): boolean;
  /** Begins nothing until it is released as often as it was held. */
  hold(): void;
  release(): void;
  /** Until what fires is due to be sent again, ms; Infinity: never. */
  resendInMs(): number;
  resent(): void;
}

export interface LaneOptions {
  readonly clock: Clock;
  /** Deliveries at once. */
  readonly width: number;
  /** How long after its lease was asked for an entry may begin. */
  readonly beginWithinMs: number;
  /** Whether to lease more than begins at once. */
  readonly leasesAhead: () => boolean;
  readonly settings: OutboxReceiver;
}

// As much as a receiver took in the time that it took it: what is leased has to begin within some seconds.
const aheadMs = 1_000;
// Answers that come at the same moment after seconds are no pace.
const paceMs = 250;
// More cost nothing less: a commit with 256 in it is as good as one with a thousand.
const mostAhead = 256;
// Sent and not recorded is what a crash repeats.
const mostUnrecorded = 64;

/** A lane of `width` places. */
export function createLane({ clock, width, beginWithinMs, leasesAhead, settings }: LaneOptions): Lane {
  const window = createRateWindow();
  let underWay = 0;
  let unrecorded = 0;
  let shelf: Leased[] = [];
  let holds = 0;
  let resentAtMs = clock.monotonicMs();
  /** Answers since the pace was last counted, and those of the time before that. */
  let counted = { answers: 0, sinceMs: clock.monotonicMs() };
  let before = { answers: 0, forMs: 0 };
  let idleSinceMs = -Infinity;
  let ahead = 0;

  const free = (): number => window.free(lane.settings.rateLimit, clock.monotonicMs());

  function heldForMs({ askedMs, askedAtMs }: Leased): number {
    return Math.max(clock.monotonicMs() - askedMs, clock.nowMs() - askedAtMs);
  }

  /** How many it will begin within the next second, if it goes on like this; at first no more than what it showed. */
  function measurePace(): void {
    const nowMs = clock.monotonicMs();
    const answers = before.answers + counted.answers;
    const pace = answers / Math.max(1, before.forMs + nowMs - counted.sinceMs);
    ahead = leasesAhead() ? Math.min(mostAhead, Math.floor(pace * aheadMs), 2 * answers) : 0;
    if (nowMs - counted.sinceMs < paceMs) return;
    before = { answers: counted.answers, forMs: nowMs - counted.sinceMs };
    counted = { answers: 0, sinceMs: nowMs };
  }

  /** While nothing is to be sent there is no pace. */
  function forgetPace(nowMs: number): void {
    if (nowMs - idleSinceMs < paceMs) return;
    before = { answers: 0, forMs: 0 };
    counted = { answers: 0, sinceMs: nowMs };
  }

  function isBusy(): boolean {
    return holds > 0 || underWay >= width || unrecorded >= mostUnrecorded || lane.freeInMs() > 0;
  }

  function isLow(): boolean {
    return shelf.length <= ahead / 2 && (ahead > 0 || underWay < width);
  }

  function takeAll(): readonly Leased[] {
    const taken = shelf;
    shelf = [];
    return taken;
  }

  const lane: Lane = {
    settings,
    freeInMs: () => {
      const nowMs = clock.monotonicMs();
      const limit = lane.settings.rateLimit;
      const rateMs = limit === null || window.free(limit, nowMs) > 0 ? nowMs : window.freeAtMs(limit, nowMs);
      return Math.max(0, rateMs - nowMs);
    },
    isIdle: () => underWay === 0 && unrecorded === 0,
    begin: () => {
      const nowMs = clock.monotonicMs();
      if (underWay === 0) forgetPace(nowMs);
      underWay++;
      window.take(nowMs);
    },
    answered: () => {
      underWay--;
      unrecorded++;
      counted.answers++;
      if (underWay === 0) idleSinceMs = clock.monotonicMs();
    },
    recorded: () => {
      unrecorded--;
    },
    isUnrecorded: () => unrecorded >= mostUnrecorded,
    isLow,
    wanted: () => {
      if (holds > 0 || !isLow() || lane.freeInMs() > 0) return 0;
      measurePace();
      return Math.max(0, Math.min(width - underWay + ahead, free()) - shelf.length);
    },
    shelve: (leased) => {
      shelf.push(...leased);
    },
    take: () => (isBusy() || lane.staleInMs() <= 0 ? null : (shelf.shift() ?? null)),
    takeStale: () => {
      if (lane.staleInMs() > 0) return [];
      ahead = 0;
      return takeAll();
    },
    takeAll,
    staleInMs: () => {
      const [oldest] = shelf;
      return oldest === undefined ? Infinity : beginWithinMs - heldForMs(oldest);
    },
    hasShelved: () => shelf.length > 0,
    hold: () => {
      holds++;
      ahead = 0;
    },
    release: () => {
      holds--;
    },
    resendInMs: () => {
      const intervalMs = lane.settings.receiver.resendIntervalMs;
      return intervalMs === undefined ? Infinity : resentAtMs + intervalMs - clock.monotonicMs();
    },
    resent: () => {
      resentAtMs = clock.monotonicMs();
    },
  };
  return lane;
}

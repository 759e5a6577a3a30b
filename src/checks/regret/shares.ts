import { FlatlineError } from "../../base/errors.ts";
import { hourMs } from "../../base/time.ts";
import { AssetBook, type AssetLook } from "../../contract/assets.ts";

/** Deaths of known assets, in the order of time, each with the instant at which its asset was found alive. */
export interface JudgedDeaths {
  /** Epoch ms, ascending. */
  readonly atMs: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
  /** Epoch ms; NaN: never. */
  readonly revivedAtMs: ArrayLike<number>;
}

/** The instant and the deaths of a question for a share. */
export interface RegretAsk {
  readonly nowMs: number;
  readonly windowMs: number;
  /** How long ago the deaths are, so that they could be undone. */
  readonly maturityMs: number;
  /** Instant of the first stored event; null without one. */
  readonly firstEventAtMs: number | null;
}

/** Undone deaths of a window and of seven, both as long ago as it takes to know. */
export interface RegretShares {
  readonly maturityMs: number;
  readonly deaths: number;
  readonly revived: number;
  /** 0–1; null without deaths, or while the events do not reach back far enough. */
  readonly share: number | null;
  readonly longDeaths: number;
  readonly longRevived: number;
  readonly longShare: number | null;
}

/** The longer stretch is so many windows. */
export const longWindows = 7;
/**
 * An asset that is found alive sooner after its death was between two states, or was looked at by a checker that flaps: it says
 * nothing of what the checker is wrong about.
 */
export const leastRevivalMs = 6 * hourMs;

// Some 100 MB: more deaths than any organization that people look at has in so long.
const mostDeaths = 500_000;

/** Judges deaths by the looks that follow; looks in the order of their time. */
export class DeathJudge {
  readonly #atMs: number[] = [];
  readonly #counts: number[] = [];
  readonly #revivedAtMs: number[] = [];
  /** By asset, the indexes of its deaths without a later revival. */
  readonly #pending = new AssetBook<number[]>();

  /** @throws unavailable when there are more deaths than can be kept */
  add(look: AssetLook): void {
    const { atMs, isDeath, count } = look;
    if (isDeath) {
      if (this.#atMs.length >= mostDeaths)
        throw new FlatlineError("unavailable", `more than ${mostDeaths} deaths are too many to judge each`);
      const index = this.#atMs.length;
      this.#atMs.push(atMs);
      this.#counts.push(count);
      this.#revivedAtMs.push(Number.NaN);
      const pending = this.#pending.get(look);
      if (pending === undefined) this.#pending.set(look, [index]);
      else pending.push(index);
      return;
    }
    for (const [name, pending] of this.#pending.meant(look)) {
      // A look that finds an asset alive at the instant of its death does not undo it.
      const left = pending.filter((index) => (this.#atMs[index] ?? 0) >= atMs);
      for (const index of pending) if (!left.includes(index)) this.#revivedAtMs[index] = atMs;
      if (left.length === 0) this.#pending.delete(name);
      else this.#pending.set(name, left);
    }
  }

  get deaths(): JudgedDeaths {
    return { atMs: this.#atMs, counts: this.#counts, revivedAtMs: this.#revivedAtMs };
  }
}

/** Returns the instant after which looks are needed for the shares. */
export function regretStartMs({ nowMs, windowMs, maturityMs }: Omit<RegretAsk, "firstEventAtMs">): number {
  return nowMs - maturityMs - longWindows * windowMs;
}

/** Returns the shares of undone deaths (CONTRACT 12). */
export function regretShares(deaths: JudgedDeaths, ask: RegretAsk): RegretShares {
  const { nowMs, windowMs, maturityMs, firstEventAtMs } = ask;
  const untilMs = nowMs - maturityMs;
  const longAfterMs = untilMs - longWindows * windowMs;
  const isCovered = firstEventAtMs !== null && firstEventAtMs <= longAfterMs;
  const short = countRevived(deaths, { afterMs: untilMs - windowMs, untilMs, nowMs });
  const long = countRevived(deaths, { afterMs: longAfterMs, untilMs, nowMs });
  const shareOf = ({ all, revived }: Counted): number | null => (!isCovered || all === 0 ? null : revived / all);
  return {
    maturityMs,
    deaths: short.all,
    revived: short.revived,
    share: shareOf(short),
    longDeaths: long.all,
    longRevived: long.revived,
    longShare: shareOf(long),
  };
}

/** `aliveAtMs` is the first look after the death that found the asset alive; NaN: none did. */
function isRevived(diedAtMs: number, aliveAtMs: number, nowMs: number): boolean {
  return aliveAtMs <= nowMs && aliveAtMs - diedAtMs >= leastRevivalMs;
}

interface Counted {
  readonly all: number;
  readonly revived: number;
}

function countRevived(
  { atMs, counts, revivedAtMs }: JudgedDeaths,
  { afterMs, untilMs, nowMs }: { readonly afterMs: number; readonly untilMs: number; readonly nowMs: number },
): Counted {
  let all = 0;
  let revived = 0;
  for (let index = firstAfter(atMs, afterMs); index < atMs.length && (atMs[index] ?? 0) <= untilMs; index++) {
    const count = counts[index] ?? 0;
    all += count;
    if (isRevived(atMs[index] ?? 0, revivedAtMs[index] ?? Number.NaN, nowMs)) revived += count;
  }
  return { all, revived };
}

/** The index of the first instant after `afterMs`. */
function firstAfter(atMs: ArrayLike<number>, afterMs: number): number {
  let low = 0;
  let high = atMs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((atMs[middle] ?? 0) <= afterMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

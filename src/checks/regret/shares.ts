import { FlatlineError } from "../../base/errors.ts";
import { hourMs } from "../../base/time.ts";
import { AssetBook, type AssetLook } from "../../contract/assets.ts";

/** Which deaths are judged, and when. */
export interface RegretAsk {
  readonly nowMs: number;
  readonly windowMs: number;
  /** How long ago the deaths are, so that they could be undone. */
  readonly maturityMs: number;
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
/** Found alive sooner after its death, an asset was between two states, or looked at by a checker that flaps. */
export const leastRevivalMs = 6 * hourMs;

// Some 100 MB: more deaths than any organization that people look at has in so long.
const mostDeaths = 500_000;

/** Returns the instant after which looks are needed for the shares. */
export function regretStartMs({ nowMs, windowMs, maturityMs }: RegretAsk): number {
  return nowMs - maturityMs - longWindows * windowMs;
}

/** Judges deaths by the looks that follow (CONTRACT 12). */
export class DeathJudge {
  readonly #ask: RegretAsk;
  readonly #deaths = { short: 0, long: 0 };
  readonly #revived = { short: 0, long: 0 };
  /** By asset, its deaths without a later look that found it alive. */
  readonly #pending = new AssetBook<AssetLook[]>();
  #seen = 0;

  constructor(ask: RegretAsk) {
    this.#ask = ask;
  }

  /** Takes a look after `regretStartMs` and up to now, in the order of their time. @throws unavailable when there are more deaths than can be kept */
  add(look: AssetLook): void {
    if (look.isDeath) return this.#addDeath(look);
    for (const [name, pending] of this.#pending.meant(look)) {
      // A look that finds an asset alive at the instant of its death does not undo it.
      const left = pending.filter(({ atMs }) => atMs >= look.atMs);
      for (const death of pending)
        if (look.atMs > death.atMs && look.atMs - death.atMs >= leastRevivalMs) this.#count(this.#revived, death);
      if (left.length === 0) this.#pending.delete(name);
      else this.#pending.set(name, left);
    }
  }

  /** Returns the shares; `firstEventAtMs` is the instant of the first stored event, null without one. */
  shares(firstEventAtMs: number | null): RegretShares {
    const isCovered = firstEventAtMs !== null && firstEventAtMs <= regretStartMs(this.#ask);
    const shareOf = (stretch: "short" | "long"): number | null =>
      !isCovered || this.#deaths[stretch] === 0 ? null : this.#revived[stretch] / this.#deaths[stretch];
    return {
      maturityMs: this.#ask.maturityMs,
      deaths: this.#deaths.short,
      revived: this.#revived.short,
      share: shareOf("short"),
      longDeaths: this.#deaths.long,
      longRevived: this.#revived.long,
      longShare: shareOf("long"),
    };
  }

  #addDeath(death: AssetLook): void {
    const { nowMs, maturityMs } = this.#ask;
    if (death.atMs > nowMs - maturityMs) return;
    if (++this.#seen > mostDeaths)
      throw new FlatlineError("unavailable", `more than ${mostDeaths} deaths are too many to judge each`);
    this.#count(this.#deaths, death);
    const pending = this.#pending.get(death);
    if (pending === undefined) this.#pending.set(death, [death]);
    else pending.push(death);
  }

  #count(counts: { short: number; long: number }, { atMs, count }: AssetLook): void {
    const { nowMs, windowMs, maturityMs } = this.#ask;
    counts.long += count;
    if (atMs > nowMs - maturityMs - windowMs) counts.short += count;
  }
}

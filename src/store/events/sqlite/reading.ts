import { FlatlineError } from "../../../base/errors.ts";
import type { EventBlock } from "./block.ts";
import type { CheckedInputs } from "../input/check.ts";
import { mostInputBytes, readInput, type EventInput } from "../input/input.ts";
import type { WriteTally } from "../tally.ts";

/** Checked input that is to be stored. */
export interface EventReading {
  readonly inputs: readonly EventInput[];
  readonly checked: CheckedInputs;
  /** Added to each event's instant. */
  readonly shiftMs: number;
  readonly signal: AbortSignal;
}

/**
 * Reads the input for the second time into the block that `block` returns; yields after each chunk.
 * @throws invalid_data if it has changed, unavailable when the signal aborts
 */
export async function* readAgain(
  { inputs, checked, shiftMs, signal }: EventReading,
  block: () => EventBlock,
  tally: WriteTally,
): AsyncGenerator<void> {
  for (const [index, input] of inputs.entries()) {
    const changed = (): never => {
      throw new FlatlineError("invalid_data", `${input.name}: changed while it was imported; nothing was imported`);
    };
    const reading = readInput(input, {
      names: checked.names,
      maxBytes: mostInputBytes,
      sink: {
        row: (row) => {
          if (!block().add(row, shiftMs)) tally.duplicates++;
        },
        problem: changed,
      },
    });
    let step = await reading.next();
    for (; step.done !== true; step = await reading.next()) {
      if (signal.aborted) throw new FlatlineError("unavailable", "stopped; nothing was stored");
      yield;
    }
    if (step.value.sha256 !== checked.files[index]?.sha256) changed();
  }
}

/** Waits for both results, also if one fails, so that nothing runs on beside the clean-up. */
export async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
}

import { FlatlineError } from "../../../base/errors.ts";
import { EventBlock } from "./block.ts";
import { stopped, type CheckedInputs } from "../input/check.ts";
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

/** Reads the input for the second time, one block while `write` stores the previous one; it gets the rows written before. */
export async function writeBlocks(
  reading: EventReading,
  { firstOrdinal, tally }: { readonly firstOrdinal: number; readonly tally: WriteTally },
  write: (block: EventBlock, written: number) => Promise<void>,
): Promise<void> {
  const { rows } = reading.checked;
  let filling = new EventBlock(rows);
  filling.clear(firstOrdinal);
  const chunks = readAgain(reading, () => filling, tally);
  const fill = async (): Promise<boolean> => {
    let step = await chunks.next();
    while (step.done !== true && !filling.isFull) step = await chunks.next();
    return step.done === true;
  };
  let written = 0;
  let isEnd = await fill();
  for (let spare: EventBlock | null = null; ;) {
    const block = filling;
    const writing = write(block, written);
    if (isEnd) return writing;
    filling = spare ?? new EventBlock(rows);
    filling.clear(block.firstOrdinal + block.rows);
    [, isEnd] = await both(writing, fill());
    written += block.rows;
    spare = block;
  }
}

/**
 * Reads the input for the second time into the block that `block` returns; yields after each chunk.
 * @throws invalid_data if it has changed, unavailable when the signal aborts
 */
async function* readAgain(
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
      if (signal.aborted) throw stopped();
      yield;
    }
    if (step.value.sha256 !== checked.files[index]?.sha256) changed();
  }
}

/** Waits for both results, also if one fails, so that nothing runs on beside the clean-up. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
}

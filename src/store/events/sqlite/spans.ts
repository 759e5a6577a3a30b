import { hourMs, minuteMs } from "../../../base/time.ts";

/** Numbers from ≤ n < to; empty if from = to. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The parts of an interval: whole hours, whole minutes beside them, and single events at the edges. */
export interface CountSpans {
  readonly hours: Span;
  readonly minutes: readonly [Span, Span];
  /** Instants in ms. */
  readonly instants: readonly [Span, Span];
}

/** Splits (afterMs, throughMs], the form of every window (CONTRACT 2), so that as few events as possible are read. */
export function splitInterval(afterMs: number, throughMs: number): CountSpans {
  // Instants are integers: (a, b] is [a + 1, b + 1).
  const whole: Span = { from: afterMs + 1, to: Math.max(afterMs, throughMs) + 1 };
  const [firstInstants, inMinutes, lastInstants] = splitSpan(whole, minuteMs);
  const [firstMinutes, hours, lastMinutes] = splitSpan(inMinutes, hourMs / minuteMs);
  return { hours, minutes: [firstMinutes, lastMinutes], instants: [firstInstants, lastInstants] };
}

/** Returns the whole multiples of `size` in a span, in units of `size`, and the rest before and after them. */
function splitSpan(span: Span, size: number): [Span, Span, Span] {
  const from = Math.ceil(span.from / size);
  const to = Math.floor(span.to / size);
  if (from >= to) return [span, { from: 0, to: 0 }, { from: 0, to: 0 }];
  return [
    { from: span.from, to: from * size },
    { from, to },
    { from: to * size, to: span.to },
  ];
}

import { hourMs, minuteMs } from "../../../base/time.ts";

/** Numbers from ≤ n < to; empty where from = to. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How the events of an interval are counted: from whole hours, whole minutes beside them, and single events at the edges. */
export interface CountSpans {
  readonly hours: Span;
  readonly minutes: readonly [Span, Span];
  /** Instants in ms. */
  readonly instants: readonly [Span, Span];
}

/** Splits (afterMs, throughMs], the shape of every window (CONTRACT 2), so that as little as can be is read one by one. */
export function splitInterval(afterMs: number, throughMs: number): CountSpans {
  // Instants are integers: (a, b] is [a + 1, b + 1).
  const whole: Span = { from: afterMs + 1, to: Math.max(afterMs, throughMs) + 1 };
  const [firstInstants, inMinutes, lastInstants] = splitSpan(whole, minuteMs);
  const [firstMinutes, hours, lastMinutes] = splitSpan(inMinutes, hourMs / minuteMs);
  return { hours, minutes: [firstMinutes, lastMinutes], instants: [firstInstants, lastInstants] };
}

/** The whole multiples of `size` in a span, counted in `size`, and what is left before and after them. */
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

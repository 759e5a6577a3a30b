import { formatCount, formatExpected, formatRatio } from "../base/numbers.ts";

/** The counts of a spike check; null for values that its source does not provide. */
export interface DeathCounts {
  readonly currentCount: number | null;
  readonly expectedCount: number | null;
  readonly ratio?: number | null;
}

/** Returns `459×`; "none expected" if the ratio would be infinite; null if it is unknown. */
export function ratioWords({ currentCount, expectedCount, ratio = null }: DeathCounts): string | null {
  if (ratio !== null && Number.isFinite(ratio)) return formatRatio(ratio);
  if (expectedCount === null || currentCount === null) return null;
  if (expectedCount === 0) return currentCount === 0 ? null : "none expected";
  return formatRatio(currentCount / expectedCount);
}

/** Returns `459 times as many`. */
export function timesWords(ratio: number): string {
  return `${formatExpected(ratio)} times as many`;
}

/** `5,119 deaths, 11.1 expected (459×)`, `22 deaths in 24 h, none expected`; as much of it as is known. */
export function deathWords(counts: DeathCounts, windowHours: number | null = null): string | null {
  const { currentCount, expectedCount } = counts;
  if (currentCount === null) return null;
  const window = windowHours === null ? "" : ` in ${windowHours} h`;
  const deaths = `${formatCount(currentCount)} ${currentCount === 1 ? "death" : "deaths"}${window}`;
  const ratio = ratioWords(counts);
  if (expectedCount === null) return ratio === null ? deaths : `${deaths} (${ratio})`;
  if (expectedCount === 0) return `${deaths}, none expected`;
  return `${deaths}, ${formatExpected(expectedCount)} expected${ratio === null ? "" : ` (${ratio})`}`;
}

import { formatExpected, formatRatio } from "../base/numbers.ts";
import { countedWords, type CountKind } from "../spike/findings.ts";

/** The counts of a spike check; null: its source does not provide the value. */
export interface DeathCounts {
  readonly currentCount: number | null;
  readonly expectedCount: number | null;
  readonly ratio?: number | null;
  readonly counting?: CountKind;
}

export function countingOf(result: { readonly observed: Readonly<Record<string, unknown>> } | null): CountKind {
  return result?.observed["counting"] === "assets" ? "assets" : "deaths";
}

/** Returns `459×`; "none expected" if the ratio would be infinite; null: unknown. */
export function ratioWords({ currentCount, expectedCount, ratio = null }: DeathCounts): string | null {
  if (ratio !== null && Number.isFinite(ratio)) return formatRatio(ratio);
  if (expectedCount === null || currentCount === null) return null;
  if (expectedCount === 0) return currentCount === 0 ? null : "none expected";
  return formatRatio(currentCount / expectedCount);
}

/** Returns `5,119 deaths`, or `1 dead asset` for a result that counts assets. */
export function countText(count: number, result: Parameters<typeof countingOf>[0]): string {
  return countedWords(count, countingOf(result));
}

/** Returns `5,119 deaths, 11.1 expected (459×)` or `22 deaths in 24 h, none expected`, without what is unknown. */
export function deathWords(counts: DeathCounts, windowHours: number | null = null): string | null {
  const { currentCount, expectedCount, counting = "deaths" } = counts;
  if (currentCount === null) return null;
  const window = windowHours === null ? "" : ` in ${windowHours} h`;
  const deaths = `${countedWords(currentCount, counting)}${window}`;
  const ratio = ratioWords(counts);
  if (expectedCount === null) return ratio === null ? deaths : `${deaths} (${ratio})`;
  if (expectedCount === 0) return `${deaths}, none expected`;
  return `${deaths}, ${formatExpected(expectedCount)} expected${ratio === null ? "" : ` (${ratio})`}`;
}

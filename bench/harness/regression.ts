/** A straight line through points, by least squares. */
export interface Trend {
  /** y per unit of x. */
  readonly slope: number;
  /** Of the slope: about two thirds of repetitions lie within one. */
  readonly standardError: number;
}

/** The line through `points`; without a slope where there are fewer than three. */
export function trendOf(points: readonly { readonly x: number; readonly y: number }[]): Trend {
  const count = points.length;
  if (count < 3) return { slope: 0, standardError: Number.POSITIVE_INFINITY };
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, standardError: Math.sqrt(rest / (count - 2) / spread) };
}

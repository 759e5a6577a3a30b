import { countKinds, type CountKind } from "../spike/findings.ts";
import { baselineKinds, type BaselineKind } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";

/** Values to be tried of each setting; an absent one stays as it is configured. */
export interface Grid {
  readonly baseline?: readonly BaselineKind[];
  readonly count?: readonly CountKind[];
  readonly windowHours?: readonly number[];
  readonly baselineDays?: readonly number[];
  readonly warnMultiplier?: readonly number[];
  readonly failMultiplier?: readonly number[];
  readonly minSpikeCount?: readonly number[];
}

/** One point of a grid; its settings take precedence over the configured ones. */
export interface GridPoint {
  readonly baseline?: BaselineKind;
  readonly count?: CountKind;
  readonly thresholds: Partial<SpikeThresholds>;
}

const thresholdNames = ["windowHours", "baselineDays", "warnMultiplier", "failMultiplier", "minSpikeCount"] as const;

/** Returns every combination; one point without settings for an empty grid. The last setting varies fastest. */
export function gridPoints(grid: Grid): GridPoint[] {
  let points: GridPoint[] =
    grid.baseline === undefined
      ? [{ thresholds: {} }]
      : baselineKinds.filter((kind) => grid.baseline?.includes(kind)).map((baseline) => ({ baseline, thresholds: {} }));
  const { count } = grid;
  if (count !== undefined)
    points = points.flatMap((point) =>
      countKinds.filter((kind) => count.includes(kind)).map((kind) => ({ ...point, count: kind })),
    );
  for (const name of thresholdNames) {
    const values = grid[name];
    if (values === undefined) continue;
    points = points.flatMap((point) =>
      values.map((value) => ({ ...point, thresholds: { ...point.thresholds, [name]: value } })),
    );
  }
  return points;
}

/** Returns a point in words: `median warn ×3 min 20`, `median ×3 min 20` where warn and fail begin there; empty when it says nothing. */
export function describePoint({ baseline, count, thresholds }: GridPoint): string {
  const { windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount } = thresholds;
  const words = [
    baseline,
    count === undefined ? undefined : `of ${count}`,
    windowHours === undefined ? undefined : `window ${windowHours}h`,
    baselineDays === undefined ? undefined : `baseline ${baselineDays}d`,
    ...(warnMultiplier !== undefined && warnMultiplier === failMultiplier
      ? [`×${warnMultiplier}`]
      : [
          warnMultiplier === undefined ? undefined : `warn ×${warnMultiplier}`,
          failMultiplier === undefined ? undefined : `fail ×${failMultiplier}`,
        ]),
    minSpikeCount === undefined ? undefined : `min ${minSpikeCount}`,
  ];
  return words.filter((word) => word !== undefined).join(" ");
}

import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  LineInterpolation,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  FieldColorBuilder,
  FieldColorModeId,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from "@grafana/grafana-foundation-sdk/dashboard";
import type { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as StateTimelineBuilder } from "@grafana/grafana-foundation-sdk/statetimeline";
import { PanelBuilder as TableBuilder } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as SeriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

import { severityColors } from "./palette.ts";
import { datasource } from "./queries.ts";

/** What every panel has; `width` of 24, `height` in units of 30 px. */
export interface PanelFrame {
  readonly title: string;
  /** What it answers, and where the number comes from. */
  readonly description: string;
  readonly width: number;
  readonly height: number;
  readonly queries: readonly DataqueryBuilder[];
}

/**
 * The smallest step of panels about runs and deliveries. They happen each few minutes: a rate over less than that is
 * nothing most of the time, and a quantile of nothing is a gap.
 */
const runInterval = "5m";

/** Lines over time, with their last and highest values in the legend. `isAboutRuns`: of counters or histograms that grow with each run or delivery only. */
export function series(
  frame: PanelFrame,
  { isStacked = false, isAboutRuns = false, isStepped = false } = {},
): SeriesBuilder {
  const panel = new SeriesBuilder()
    .title(frame.title)
    .description(frame.description)
    .datasource(datasource)
    .span(frame.width)
    .height(frame.height)
    .targets([...frame.queries])
    .min(0)
    .unit("short")
    .drawStyle(GraphDrawStyle.Line)
    .lineInterpolation(isStepped ? LineInterpolation.StepAfter : LineInterpolation.Linear)
    .lineWidth(isStacked ? 0 : 2)
    .fillOpacity(isStacked ? 70 : 0)
    .showPoints(VisibilityMode.Never)
    .spanNulls(false)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .calcs(["lastNotNull", "max"])
        .showLegend(true),
    );
  if (isStacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group("A"));
  if (isAboutRuns) panel.interval(runInterval);
  return panel;
}

/** Figures of now; coloured by thresholds or mappings. */
export function figures(frame: PanelFrame): StatBuilder {
  return new StatBuilder()
    .title(frame.title)
    .description(frame.description)
    .datasource(datasource)
    .span(frame.width)
    .height(frame.height)
    .targets([...frame.queries])
    .noValue("–")
    .unit("locale")
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(steps([]))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]));
}

/** Rows of now; `emptyText` stands where there is none. */
export function table(frame: PanelFrame, emptyText: string): TableBuilder {
  return new TableBuilder()
    .title(frame.title)
    .description(frame.description)
    .datasource(datasource)
    .span(frame.width)
    .height(frame.height)
    .targets([...frame.queries])
    .noValue(emptyText)
    .unit("locale")
    .thresholds(steps([]))
    .filterable(true);
}

/** Coloured bands over time. */
export function bands(frame: PanelFrame): StateTimelineBuilder {
  return new StateTimelineBuilder()
    .title(frame.title)
    .description(frame.description)
    .datasource(datasource)
    .span(frame.width)
    .height(frame.height)
    .targets([...frame.queries])
    .thresholds(steps([]))
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.85)
    .lineWidth(0)
    .fillOpacity(85)
    .legend(new VizLegendOptionsBuilder().displayMode(LegendDisplayMode.List).showLegend(false));
}

/** No colour at first, then those of the steps. */
export function steps(limits: readonly { readonly from: number; readonly color: string }[]): ThresholdsConfigBuilder {
  // null is minus infinity; "text" is the theme's ink.
  const all: Threshold[] = [
    { value: null, color: "text" },
    ...limits.map(({ from, color }) => ({ value: from, color })),
  ];
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(all);
}

/** From 1 on it is bad: for counts of what should not be. */
export const badFromOne = (): ThresholdsConfigBuilder => steps([{ from: 1, color: severityColors.fail }]);

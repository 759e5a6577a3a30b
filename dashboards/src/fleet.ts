import {
  HeatmapCalculationBucketConfigBuilder,
  HeatmapCalculationMode,
  HeatmapCalculationOptionsBuilder,
  ScaleDistribution,
  ScaleDistributionConfigBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";
import {
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  PanelBuilder as HeatmapBuilder,
  YAxisConfigBuilder,
} from "@grafana/grafana-foundation-sdk/heatmap";

import { dashboard, linkToPage } from "./frame.ts";
import { fixedColor, severityColors, severityMapping } from "./palette.ts";
import { figures, series, steps, table } from "./panels.ts";
import { datasource, figureNow, ofJob, ofSpike, overTime, ratioOrExcess, rowsNow, severityLevel } from "./queries.ts";

/** Those whose last verdict is not ok; to be joined with `and on (…)`. */
const notOk = `flatline_check_severity{${ofSpike}, severity=~"warn|fail|unknown"} == 1`;
const ofThose = (metric: string): string =>
  `max by (slug) (${metric}{${ofSpike}} and on (job, instance, check, slug) (${notOk}))`;
const ratio = (current: string, expected: string): string => `${current} / (${expected} > 0)`;
const current = "flatline_check_deaths";
const expected = "flatline_check_expected_deaths";

const linkToOrganization = {
  title: "Show ${__value.text}",
  url: "/d/flatline-organization?var-slug=${__value.text:percentencode}&${job:queryparam}&${page:queryparam}&${datasource:queryparam}&${__url_time_range}",
};
const organizationLinks = [linkToOrganization, linkToPage("__value.text")];

/** Which organizations spike, how many at once, and what carries it. */
export function fleetDashboard(): Dashboard {
  return dashboard({
    uid: "flatline-fleet",
    title: "flatline: fleet",
    description: "Do many organizations lose assets at once? Then suspect the liveness checker.",
    from: "now-24h",
  })
    .withPanel(
      figures({
        title: "Organizations by severity",
        description: "Their last verdict; unknown is a check that gave no result (flatline_check_severity).",
        width: 12,
        height: 4,
        queries: [figureNow(`sum by (severity) (flatline_check_severity{${ofSpike}})`, "{{severity}}")],
      })
        .overrideByName("fail", fixedColor(severityColors.fail))
        .overrideByName("warn", fixedColor(severityColors.warn))
        .overrideByName("unknown", fixedColor(severityColors.unknown))
        .overrideByName("ok", fixedColor(severityColors.ok)),
    )
    .withPanel(
      figures({
        title: "Share that spikes",
        description:
          "Organizations whose alert fires, of those with a result. From alerting.fleet's bounds on (by default half, and three) the checker is suspected, and one notification goes out in place of many.",
        width: 6,
        height: 4,
        queries: [
          figureNow(
            `sum(flatline_fleet_spiking_organizations{${ofSpike}}) / (sum(flatline_fleet_organizations{${ofSpike}}) > 0)`,
            "spiking",
          ),
        ],
      })
        .unit("percentunit")
        .thresholds(steps([{ from: 0.5, color: severityColors.fail }])),
    )
    .withPanel(
      figures({
        title: "Deaths above what was expected",
        description: "Over all organizations that count more than expected.",
        width: 6,
        height: 4,
        queries: [figureNow(`sum(clamp_min(${current}{${ofSpike}} - ${expected}{${ofSpike}}, 0))`, "excess")],
      }).unit("short"),
    )
    .withPanel(
      series(
        {
          title: "Severities over time",
          description:
            "How many organizations hold each severity. A step of many at once is the mark of a broken checker.",
          width: 24,
          height: 8,
          queries: [overTime(`sum by (severity) (flatline_check_severity{${ofSpike}})`, "{{severity}}")],
        },
        { isStacked: true, isStepped: true },
      )
        .overrideByName("fail", fixedColor(severityColors.fail))
        .overrideByName("warn", fixedColor(severityColors.warn))
        .overrideByName("unknown", fixedColor(severityColors.unknown))
        .overrideByName("ok", fixedColor(severityColors.ok)),
    )
    .withPanel(whoSpikes())
    .withPanel(
      series(
        {
          title: "What carries it",
          description:
            "Deaths above what was expected, by asset type (flatline_check_asset_type_excess: at most five types an organization, local sources only).",
          width: 10,
          height: 10,
          queries: [overTime(`sum by (asset_type) (flatline_check_asset_type_excess{${ofSpike}})`, "{{asset_type}}")],
        },
        { isStacked: true, isStepped: true },
      ).noValue("No asset type has an excess, or the service does not name them"),
    )
    .withPanel(otherChecks())
    .withPanel(heldGates())
    .withPanel(ratioHeatmap())
    .withPanel(highestRatios())
    .withPanel(
      series({
        title: "False deaths",
        description:
          "Share of the deaths of the last 30 days whose asset was found alive later, of the ten organizations where it is highest (embedded source only). It climbs as a whole when the checker is wrong.",
        width: 16,
        height: 8,
        queries: [overTime(`topk(10, max by (slug) (flatline_check_false_death_ratio{${ofSpike}}))`, "{{slug}}")],
      })
        .unit("percentunit")
        .noValue("No death of a known asset, or the source is not the embedded one"),
    )
    .withPanel(
      figures({
        title: "What people judged",
        description:
          "Judgements since the start of the daemon: the checker was wrong, these assets did die, or it was known beforehand.",
        width: 8,
        height: 8,
        queries: [figureNow(`sum by (verdict) (flatline_alerts_judged_total{${ofJob}})`, "{{verdict}}")],
      }),
    )
    .build();
}

function whoSpikes(): ReturnType<typeof table> {
  return table(
    {
      title: "Who spikes",
      description: "Organizations whose last verdict is not ok, the worst first; unknown ones have no count.",
      width: 14,
      height: 10,
      queries: [
        rowsNow(`(${severityLevel(ofSpike, "slug")}) > 0`).refId("severity"),
        rowsNow(ofThose(current)).refId("count"),
        rowsNow(ofThose(expected)).refId("expected"),
        rowsNow(ratio(ofThose(current), ofThose(expected))).refId("ratio"),
        rowsNow(`max by (slug) (flatline_alert_firing{${ofSpike}})`).refId("firing"),
      ],
    },
    "Every organization is ok",
  )
    .withTransformation({ id: "merge", options: {} })
    .withTransformation({
      id: "organize",
      options: {
        excludeByName: { Time: true },
        indexByName: {
          "Value #severity": 0,
          slug: 1,
          "Value #count": 2,
          "Value #expected": 3,
          "Value #ratio": 4,
          "Value #firing": 5,
        },
        renameByName: {
          "Value #severity": "Severity",
          slug: "Organization",
          "Value #count": "Count",
          "Value #expected": "Expected",
          "Value #ratio": "Ratio",
          "Value #firing": "Alert",
        },
      },
    })
    .withTransformation({ id: "sortBy", options: { fields: {}, sort: [{ field: "Severity", desc: true }] } })
    .overrideByName("Severity", [
      { id: "mappings", value: severityMapping },
      { id: "custom.cellOptions", value: { type: "color-text" } },
      { id: "custom.width", value: 100 },
    ])
    .overrideByName("Organization", [{ id: "links", value: organizationLinks }])
    .overrideByName("Count", [{ id: "unit", value: "locale" }])
    .overrideByName("Expected", [{ id: "decimals", value: 1 }])
    .overrideByName("Ratio", [
      { id: "decimals", value: 1 },
      { id: "unit", value: "suffix:×" },
    ])
    .overrideByName("Alert", [
      {
        id: "mappings",
        value: [{ type: "value", options: { "1": { text: "firing", color: severityColors.fail, index: 0 } } }],
      },
    ]);
}

/** What a look at spikes alone would miss: a sentinel called dead, events that do not come, a queue that waits. */
function otherChecks(): ReturnType<typeof table> {
  const others = `${ofJob}, check!="dead-asset-spike"`;
  return table(
    {
      title: "Other checks that are not ok",
      description: "Sentinels, the flow of events and review queues whose last verdict is not ok, the worst first.",
      width: 14,
      height: 6,
      queries: [rowsNow(`(${severityLevel(others, "check, slug")}) > 0`)],
    },
    "Every other check is ok, or there is none",
  )
    .withTransformation({
      id: "organize",
      options: {
        excludeByName: { Time: true },
        indexByName: { Value: 0, slug: 1, check: 2 },
        renameByName: { Value: "Severity", slug: "Organization", check: "Check" },
      },
    })
    .withTransformation({ id: "sortBy", options: { fields: {}, sort: [{ field: "Severity", desc: true }] } })
    .overrideByName("Severity", [
      { id: "mappings", value: severityMapping },
      { id: "custom.cellOptions", value: { type: "color-text" } },
      { id: "custom.width", value: 100 },
    ])
    .overrideByName("Organization", [{ id: "links", value: organizationLinks }]);
}

function highestRatios(): ReturnType<typeof series> {
  return series({
    title: "The ten highest ratios",
    description:
      "Count divided by what was expected, of those that are highest at each moment. Where nothing was expected the ratio is infinite: the deaths stand in its place.",
    width: 12,
    height: 9,
    queries: [overTime(`topk(10, max by (slug) (${ratioOrExcess(ofSpike)}))`, "{{slug}}")],
  })
    .unit("suffix:×")
    .decimals(1)
    .scaleDistribution(new ScaleDistributionConfigBuilder().type(ScaleDistribution.Symlog).linearThreshold(1).log(10));
}

/** Where nothing acts on deaths until somebody has looked. */
function heldGates(): ReturnType<typeof table> {
  return table(
    {
      title: "Gates that are held",
      description:
        "Organizations whose deaths are not to be acted on, the longest first (flatline_gate_held_since_timestamp_seconds): judge the alert that holds, or release.",
      width: 10,
      height: 6,
      queries: [rowsNow(`max by (slug) (time() - flatline_gate_held_since_timestamp_seconds{${ofJob}})`)],
    },
    "No gate is held",
  )
    .withTransformation({
      id: "organize",
      options: {
        excludeByName: { Time: true },
        indexByName: { slug: 0, Value: 1 },
        renameByName: { slug: "Organization", Value: "Held for" },
      },
    })
    .withTransformation({ id: "sortBy", options: { fields: {}, sort: [{ field: "Held for", desc: true }] } })
    .overrideByName("Organization", [{ id: "links", value: [linkToOrganization] }])
    .overrideByName("Held for", [
      { id: "unit", value: "s" },
      { id: "decimals", value: 0 },
    ]);
}

function ratioHeatmap(): HeatmapBuilder {
  return new HeatmapBuilder()
    .title("How the ratios spread")
    .description(
      "How many organizations (colour) count how many times what was expected (height). A band that climbs as a whole is the checker; a single cell above is one organization. Where nothing was expected the deaths stand in place of the ratio.",
    )
    .datasource(datasource)
    .span(12)
    .height(9)
    .withTarget(overTime(ratioOrExcess(ofSpike), "{{slug}}"))
    .calculate(true)
    .calculation(
      new HeatmapCalculationOptionsBuilder().yBuckets(
        new HeatmapCalculationBucketConfigBuilder()
          .mode(HeatmapCalculationMode.Size)
          .value("1")
          .scale(new ScaleDistributionConfigBuilder().type(ScaleDistribution.Log).log(2)),
      ),
    )
    .color(
      new HeatmapColorOptionsBuilder()
        .mode(HeatmapColorMode.Scheme)
        .scheme("Oranges")
        .steps(64)
        .fill("dark-orange")
        .exponent(0.5)
        .reverse(false),
    )
    .yAxis(new YAxisConfigBuilder().unit("suffix:×").decimals(1))
    .cellGap(1)
    .showLegend();
}

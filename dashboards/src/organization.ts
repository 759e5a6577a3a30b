import { type AnnotationQuery, type Dashboard, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";

import { dashboard, labelVariable, linkToPage } from "./frame.ts";
import { dashedLine, fixedColor, plainColors, severityColors, severityMapping, yesNoMapping } from "./palette.ts";
import { coverage, falseDeaths, sentinels, silence } from "./liveness.ts";
import { bands, figures, series, steps, table } from "./panels.ts";
import { datasource, figureNow, ofJob, overTime, quantile, rowsNow, severityLevel } from "./queries.ts";

const ofSlug = `${ofJob}, slug=~"$slug"`;
const ofSpike = `${ofSlug}, check="dead-asset-spike"`;
const bySlug = (metric: string, matchers = ofSpike): string => `max by (slug) (${metric}{${matchers}})`;
const limit = (key: string): string => bySlug("flatline_check_threshold", `${ofSpike}, key="${key}"`);

/** Alerts as Grafana's Prometheus data source reads them: a region as long as the series is above 0. */
const alertAnnotation = {
  name: "Alerts",
  datasource,
  enable: true,
  hide: false,
  iconColor: severityColors.fail,
  expr: `max by (check, slug, severity) (flatline_alert_firing{${ofSlug}})`,
  step: "60s",
  titleFormat: "{{slug}}: {{severity}}",
  textFormat: "{{check}}",
  tagKeys: "severity,check",
  useValueForTime: false,
} satisfies AnnotationQuery & Readonly<Record<string, unknown>>;

/** Grafana wants the milliseconds of an event; those about all organizations have an empty slug. */
const markerAnnotation = {
  name: "Markers",
  datasource,
  enable: true,
  hide: false,
  iconColor: "blue",
  expr: `max by (marker) (flatline_marker_timestamp_seconds{${ofJob}, slug=~"$slug|"}) * 1000`,
  step: "60s",
  titleFormat: "{{marker}}",
  textFormat: "",
  tagKeys: "marker",
  useValueForTime: true,
} satisfies AnnotationQuery & Readonly<Record<string, unknown>>;

/** One organization: its count against what was expected, why it is as it is, and whether the check runs. */
export function organizationDashboard(): Dashboard {
  return dashboard({
    uid: "flatline-organization",
    title: "flatline: organization",
    description: "The count of one organization against what its baseline leads to expect, and its alerts.",
    from: "now-3d",
  })
    .withVariable(
      labelVariable("slug", `label_values(flatline_check_next_run_timestamp_seconds{${ofJob}}, slug)`).label(
        "Organization",
      ),
    )
    .annotation({ build: () => alertAnnotation })
    .annotation({ build: () => markerAnnotation })
    .withPanel(
      figures({
        title: "Severity",
        description: "The worst of its checks, by their last verdicts; unknown is a check that gave no result.",
        width: 4,
        height: 4,
        queries: [figureNow(severityLevel(ofSlug, "slug"), "{{slug}}")],
      })
        .mappings(severityMapping)
        .overrideByRegexp("/.*/", [{ id: "links", value: [linkToPage("__field.labels.slug")] }]),
    )
    .withPanel(
      figures({
        title: "Count and expected",
        description: "Absent when the service names them otherwise: see `source.observedKeys` and the raw maps below.",
        width: 6,
        height: 4,
        queries: [
          figureNow(bySlug("flatline_check_deaths"), "count {{slug}}"),
          figureNow(bySlug("flatline_check_expected_deaths"), "expected {{slug}}"),
        ],
      }).decimals(0),
    )
    .withPanel(
      figures({
        title: "Ratio",
        description: "Count divided by expected; absent when nothing is expected.",
        width: 3,
        height: 4,
        queries: [
          figureNow(
            `max by (slug) (flatline_check_deaths{${ofSpike}} / (flatline_check_expected_deaths{${ofSpike}} > 0))`,
            "{{slug}}",
          ),
        ],
      })
        .unit("suffix:×")
        .decimals(1),
    )
    .withPanel(
      figures({
        title: "Gate held for",
        description: "Since when deaths are not to be acted on; absent while the gate is open.",
        width: 4,
        height: 4,
        queries: [
          figureNow(`max by (slug) (time() - flatline_gate_held_since_timestamp_seconds{${ofSlug}})`, "{{slug}}"),
        ],
      })
        .unit("s")
        .decimals(0)
        .noValue("open"),
    )
    .withPanel(
      figures({
        title: "Last result",
        description: "How long ago a run gave one.",
        width: 4,
        height: 4,
        queries: [figureNow(`time() - ${bySlug("flatline_check_last_success_timestamp_seconds")}`, "{{slug}}")],
      })
        .unit("s")
        .decimals(0),
    )
    .withPanel(
      figures({
        title: "Next run",
        description: "In how long; negative when it is late.",
        width: 3,
        height: 4,
        queries: [figureNow(`${bySlug("flatline_check_next_run_timestamp_seconds")} - time()`, "{{slug}}")],
      })
        .unit("s")
        .decimals(0),
    )
    .withPanel(countAgainstExpected())
    .withPanel(
      bands({
        title: "Severity over time",
        description: "One verdict after the other, of each check; a gap is a time without flatline.",
        width: 24,
        height: 6,
        queries: [overTime(severityLevel(ofSlug, "check, slug"), "{{check}} {{slug}}")],
      }).mappings(severityMapping),
    )
    .withPanel(
      series(
        {
          title: "What carries the excess",
          description:
            "Deaths above what was expected, by asset type: those that the findings name, at most five, local sources only.",
          width: 12,
          height: 8,
          queries: [
            overTime(
              `max by (slug, asset_type) (flatline_check_asset_type_excess{${ofSpike}})`,
              "{{asset_type}} {{slug}}",
            ),
          ],
        },
        { isStacked: true, isStepped: true },
      ).noValue("No asset type has an excess, or the service does not name them"),
    )
    .withPanel(
      series(
        {
          title: "Runs by outcome",
          description: "Error is a run that gave no result: neither ok nor a spike.",
          width: 6,
          height: 8,
          queries: [
            overTime(
              `sum by (outcome) (increase(flatline_check_runs_total{${ofSlug}}[$__rate_interval]))`,
              "{{outcome}}",
            ),
          ],
        },
        { isStacked: true, isAboutRuns: true },
      )
        .overrideByName("ok", fixedColor(severityColors.ok))
        .overrideByName("warn", fixedColor(severityColors.warn))
        .overrideByName("fail", fixedColor(severityColors.fail))
        .overrideByName("error", fixedColor(severityColors.unknown)),
    )
    .withPanel(
      series(
        {
          title: "Duration of runs",
          description:
            "Of all organizations, by check, retries included: flatline keeps no histogram for each of them.",
          width: 6,
          height: 8,
          queries: [
            overTime(quantile(0.5, "flatline_check_duration_seconds", ofJob, ["check"]), "median {{check}}"),
            overTime(quantile(0.99, "flatline_check_duration_seconds", ofJob, ["check"]), "p99 {{check}}"),
          ],
        },
        { isAboutRuns: true },
      ).unit("s"),
    )
    .withRow(new RowBuilder("The liveness checker"))
    .withPanel(falseDeaths(ofSlug))
    .withPanel(sentinels(ofSlug))
    .withPanel(silence(ofSlug))
    .withPanel(coverage(ofSlug))
    .withRow(new RowBuilder("As the service says it"))
    .withPanel(rawMap("Observed", "flatline_check_observed"))
    .withPanel(rawMap("Thresholds", "flatline_check_threshold"))
    .withPanel(
      figures({
        title: "Did the last run give a result?",
        description: "Each check; findings and errors are on flatline's own page.",
        width: 8,
        height: 8,
        queries: [figureNow(`min by (check, slug) (flatline_check_up{${ofSlug}})`, "{{check}} {{slug}}")],
      }).mappings(yesNoMapping({ yes: "yes", no: "no" })),
    )
    .build();
}

function countAgainstExpected(): ReturnType<typeof series> {
  const line = (dashColor: string): ReturnType<typeof dashedLine> => dashedLine(dashColor);
  return series(
    {
      title: "Count against expected",
      description:
        "Deaths in the window, what the baseline leads to expect, and the limits as they were. Below minSpikeCount nothing is a spike. Alerts are the regions.",
      width: 24,
      height: 11,
      queries: [
        overTime(bySlug("flatline_check_deaths"), "count {{slug}}"),
        overTime(bySlug("flatline_check_expected_deaths"), "expected {{slug}}"),
        overTime(limit("warnAbove"), "warn above {{slug}}"),
        overTime(limit("failAbove"), "fail above {{slug}}"),
        overTime(limit("minSpikeCount"), "least count {{slug}}"),
      ],
    },
    { isStepped: true },
  )
    .noValue("The service does not name a count: see the raw maps below")
    .overrideByRegexp("/^count /", fixedColor(plainColors.count))
    .overrideByRegexp("/^expected /", line(plainColors.expected))
    .overrideByRegexp("/^warn above /", line(severityColors.warn))
    .overrideByRegexp("/^fail above /", line(severityColors.fail))
    .overrideByRegexp("/^least count /", line(plainColors.expected));
}

function rawMap(title: string, metric: string): ReturnType<typeof table> {
  return table(
    {
      title,
      description: `Every number of the last result under the service's own key (${metric}); absent while there is no result.`,
      width: 8,
      height: 8,
      queries: [rowsNow(`max by (check, slug, key) (${metric}{${ofSlug}})`)],
    },
    "The last result names none",
  )
    .withTransformation({
      id: "organize",
      options: {
        excludeByName: { Time: true },
        indexByName: { check: 0, slug: 1, key: 2, Value: 3 },
        renameByName: { check: "Check", slug: "Organization", key: "Key" },
      },
    })
    .thresholds(steps([]));
}

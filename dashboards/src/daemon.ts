import { type Dashboard, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";

import { dashboard, labelVariable } from "./frame.ts";
import { fixedColor, severityColors, yesNoMapping } from "./palette.ts";
import { badFromOne, figures, series, steps, table } from "./panels.ts";
import { figureNow, ofJob, overTime, quantile, rowsNow } from "./queries.ts";

const ofInstance = `${ofJob}, instance=~"$instance"`;
const rate = (by: string, counter: string, matchers = ofInstance): string =>
  `sum by (${by}) (rate(${counter}{${matchers}}[$__rate_interval]))`;
const increase = (by: string, counter: string): string =>
  `sum by (${by}) (increase(${counter}{${ofInstance}}[$__rate_interval]))`;

/** Is flatline itself well: does it run in time, does it reach the service, do its notifications get through? */
export function daemonDashboard(): Dashboard {
  return dashboard({
    uid: "flatline-itself",
    title: "flatline: itself",
    description: "Who watches the watcher: scheduler, source, notifications and process of flatline.",
    from: "now-6h",
  })
    .withVariable(
      labelVariable("instance", `label_values(flatline_build_info{${ofJob}}, instance)`)
        .label("Instance")
        .includeAll(true)
        .allValue(".*"),
    )
    .withPanel(
      table(
        {
          title: "Instances",
          description: "flatline_build_info of those that Prometheus reaches.",
          width: 8,
          height: 5,
          queries: [rowsNow(`max by (instance, version, node) (flatline_build_info{${ofInstance}})`)],
        },
        "Prometheus reaches no flatline",
      ).withTransformation({
        id: "organize",
        options: {
          excludeByName: { Time: true, Value: true },
          indexByName: { instance: 0, version: 1, node: 2 },
          renameByName: { instance: "Instance", version: "Version", node: "Node.js" },
        },
      }),
    )
    .withPanel(
      figures({
        title: "Last reload",
        description:
          "A failed one changes nothing: flatline runs on the configuration before. `flatline config check` says why.",
        width: 4,
        height: 5,
        queries: [figureNow(`min(flatline_config_last_reload_successful{${ofInstance}})`, "reload")],
      }).mappings(yesNoMapping({ yes: "good", no: "failed" })),
    )
    .withPanel(
      figures({
        title: "Dead letters",
        description: "Notifications that were given up: `flatline outbox list`, then `retry` or `discard`.",
        width: 4,
        height: 5,
        queries: [figureNow(`sum(flatline_outbox_dead_letters{${ofInstance}})`, "dead")],
      }).thresholds(badFromOne()),
    )
    .withPanel(
      figures({
        title: "Oldest waiting notification",
        description: "How long the oldest one has not been accepted by its receiver.",
        width: 4,
        height: 5,
        queries: [figureNow(`max(flatline_outbox_oldest_age_seconds{${ofInstance}})`, "age")],
      })
        .unit("s")
        .decimals(0)
        .thresholds(
          steps([
            { from: 300, color: severityColors.warn },
            { from: 600, color: severityColors.fail },
          ]),
        ),
    )
    .withPanel(
      figures({
        title: "Checks without a result",
        description: "Those whose last run gave none: severity unknown.",
        width: 4,
        height: 5,
        queries: [figureNow(`sum(flatline_check_severity{${ofInstance}, severity="unknown"})`, "unknown")],
      }).thresholds(badFromOne()),
    )
    .withRow(new RowBuilder("Scheduler and checks"))
    .withPanel(
      series(
        {
          title: "Scheduler lag",
          description: "Start of a run minus the time at which it was due.",
          width: 8,
          height: 8,
          queries: [
            overTime(quantile(0.5, "flatline_scheduler_lag_seconds", ofInstance), "median"),
            overTime(quantile(0.99, "flatline_scheduler_lag_seconds", ofInstance), "p99"),
          ],
        },
        { isAboutRuns: true },
      ).unit("s"),
    )
    .withPanel(
      series(
        {
          title: "Runs, and ticks that were skipped",
          description:
            "A tick is skipped while the last run is under way (overlap), or when the process could not run (late).",
          width: 8,
          height: 8,
          queries: [
            overTime(increase("outcome", "flatline_check_runs_total"), "{{outcome}}"),
            overTime(increase("reason", "flatline_check_skipped_total"), "skipped: {{reason}}"),
          ],
        },
        { isAboutRuns: true },
      )
        .overrideByName("ok", fixedColor(severityColors.ok))
        .overrideByName("warn", fixedColor(severityColors.warn))
        .overrideByName("fail", fixedColor(severityColors.fail))
        .overrideByName("error", fixedColor(severityColors.unknown)),
    )
    .withPanel(
      series(
        {
          title: "Errors by reason",
          description: "Runs that gave no result; docs/runbooks.md says what to do about each reason.",
          width: 8,
          height: 8,
          queries: [overTime(increase("check, reason", "flatline_check_errors_total"), "{{check}}: {{reason}}")],
        },
        { isAboutRuns: true, isStacked: true },
      ),
    )
    .withPanel(
      series(
        {
          title: "Duration of runs",
          description: "Retries included.",
          width: 8,
          height: 8,
          queries: [
            overTime(quantile(0.5, "flatline_check_duration_seconds", ofInstance, ["check"]), "median {{check}}"),
            overTime(quantile(0.99, "flatline_check_duration_seconds", ofInstance, ["check"]), "p99 {{check}}"),
          ],
        },
        { isAboutRuns: true },
      ).unit("s"),
    )
    .withPanel(
      series(
        {
          title: "Requests to the service",
          description: "With a remote source: by operation and HTTP status, or why there was none.",
          width: 8,
          height: 8,
          queries: [overTime(rate("operation, code", "flatline_source_requests_total"), "{{operation}} {{code}}")],
        },
        { isAboutRuns: true },
      )
        .unit("reqps")
        .noValue("The source is not remote"),
    )
    .withPanel(
      series(
        {
          title: "Requests and events that came in",
          description: "With the embedded source: calls of API v2, and liveness events by status.",
          width: 8,
          height: 8,
          queries: [
            overTime(rate("operation, code", "flatline_api_requests_total"), "{{operation}} {{code}}"),
            overTime(rate("status", "flatline_events_ingested_total"), "events: {{status}}"),
          ],
        },
        { isAboutRuns: true },
      ).unit("ops"),
    )
    .withRow(new RowBuilder("Notifications"))
    .withPanel(
      series({
        title: "Outbox",
        description: "Notifications that wait for their receiver, and those that were given up.",
        width: 8,
        height: 8,
        queries: [
          overTime(`sum by (receiver) (flatline_outbox_pending{${ofInstance}})`, "waiting: {{receiver}}"),
          overTime(`sum by (receiver) (flatline_outbox_dead_letters{${ofInstance}})`, "dead: {{receiver}}"),
        ],
      }),
    )
    .withPanel(
      series(
        {
          title: "Deliveries by outcome",
          description: "Each attempt: delivered, to be retried, or given up.",
          width: 8,
          height: 8,
          queries: [
            overTime(increase("receiver, outcome", "flatline_notifications_total"), "{{receiver}}: {{outcome}}"),
          ],
        },
        { isAboutRuns: true },
      ),
    )
    .withPanel(
      series(
        {
          title: "Duration of deliveries",
          description: "One in a hundred attempts takes longer.",
          width: 8,
          height: 8,
          queries: [
            overTime(
              quantile(0.99, "flatline_notification_duration_seconds", ofInstance, ["receiver"]),
              "p99 {{receiver}}",
            ),
          ],
        },
        { isAboutRuns: true },
      ).unit("s"),
    )
    .withPanel(
      series({
        title: "Receivers that do not answer",
        description:
          "Requests under way at the moment, and those that a receiver did not answer within its timeout: above 0 for long, it hangs.",
        width: 12,
        height: 7,
        queries: [
          overTime(
            `sum by (receiver) (flatline_receiver_attempts_under_way{${ofInstance}})`,
            "under way: {{receiver}}",
          ),
          overTime(increase("receiver", "flatline_receiver_timeouts_total"), "timed out: {{receiver}}"),
        ],
      }),
    )
    .withPanel(
      series({
        title: "Receivers that are paused",
        description:
          "How much is left of the pause that a receiver asked for (Retry-After). `flatline notify test RECEIVER` ends it.",
        width: 12,
        height: 7,
        queries: [
          overTime(
            `clamp_min(max by (receiver) (flatline_receiver_paused_until_timestamp_seconds{${ofInstance}}) - time(), 0)`,
            "{{receiver}}",
          ),
        ],
      }).unit("s"),
    )
    .withRow(new RowBuilder("Process"))
    .withPanel(
      series({
        title: "Memory",
        description: "Resident, and what JavaScript's heap uses of it.",
        width: 8,
        height: 8,
        queries: [
          overTime(`sum by (instance) (process_resident_memory_bytes{${ofInstance}})`, "resident {{instance}}"),
          overTime(`sum by (instance) (nodejs_heap_size_used_bytes{${ofInstance}})`, "heap {{instance}}"),
        ],
      }).unit("bytes"),
    )
    .withPanel(
      series({
        title: "CPU and event loop",
        description: "Share of one core; and how long the event loop was held up at each scrape.",
        width: 8,
        height: 8,
        queries: [
          overTime(rate("instance", "process_cpu_seconds_total"), "CPU {{instance}}"),
          overTime(`max by (instance) (nodejs_eventloop_lag_seconds{${ofInstance}})`, "loop delay {{instance}}"),
        ],
      })
        .unit("percentunit")
        .overrideByRegexp("/^loop delay /", [
          { id: "unit", value: "s" },
          { id: "custom.axisPlacement", value: "right" },
        ]),
    )
    .withPanel(
      series({
        title: "Database",
        description: "With its write-ahead log.",
        width: 8,
        height: 8,
        queries: [overTime(`max by (instance) (flatline_store_bytes{${ofInstance}})`, "{{instance}}")],
      }).unit("bytes"),
    )
    .build();
}

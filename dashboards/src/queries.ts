import type { DataSourceRef } from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";

/** The Prometheus that the dashboard's first variable names. */
export const datasource: DataSourceRef = { type: "prometheus", uid: "${datasource}" };

/** Matchers of the daemons that are looked at. */
export const ofJob = 'job=~"$job"';

/** Matchers of the spike check of all organizations. */
export const ofSpike = `${ofJob}, check="dead-asset-spike"`;

/** A line over time; `legend` may name labels. */
export function overTime(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(datasource).expr(expr).legendFormat(legend).range();
}

/** The values of now, as rows with a column for each label. */
export function rowsNow(expr: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(datasource).expr(expr).instant().format(PromQueryFormat.Table);
}

/** The values of now, as one figure for each series. */
export function figureNow(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(datasource).expr(expr).legendFormat(legend).instant();
}

/** The severity that holds as a number (`severityMapping`), by these labels. */
export function severityLevel(matchers: string, by: string): string {
  const one = (severity: string, level: number): string =>
    `flatline_check_severity{${matchers}, severity="${severity}"} * ${level}`;
  return `max by (${by}) (${one("ok", 0)} or ${one("warn", 1)} or ${one("unknown", 2)} or ${one("fail", 3)})`;
}

/** A quantile of a histogram, by these labels beside `le`. */
export function quantile(q: number, histogram: string, matchers: string, by: readonly string[] = []): string {
  const labels = [...by, "le"].join(", ");
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${histogram}_bucket{${matchers}}[$__rate_interval])))`;
}

/**
 * How many times the expected deaths were counted. Where none was expected that is infinite, which no axis shows: there the
 * excess stands in its place.
 */
export function ratioOrExcess(matchers: string): string {
  const [count, expected] = [`flatline_check_deaths{${matchers}}`, `flatline_check_expected_deaths{${matchers}}`];
  return `(${count} / (${expected} > 0) or ${count} - ${expected})`;
}

import type { AppMetricsOptions } from "./app-metrics.ts";
import { countedInstruments } from "./catalogue.ts";
import { formatEnd, formatFamily, formatLabels, type ExpositionFormat } from "./exposition.ts";

/** Returns the whole answer of `/metrics` of a process that waits for another one. */
export function renderStandby(
  { version, nodeVersion }: Pick<AppMetricsOptions, "version" | "nodeVersion">,
  format: ExpositionFormat,
): string {
  const { buildInfo, standby } = countedInstruments;
  const build = `${buildInfo.name}${formatLabels({ version, node: nodeVersion })} 1\n`;
  return (
    formatFamily(buildInfo, build, format) + formatFamily(standby, `${standby.name} 1\n`, format) + formatEnd(format)
  );
}

import type { Registry } from "prom-client";

import { formatBound, formatFamily, formatLabels, formatValue, type ExpositionFormat } from "./exposition.ts";

interface RegistrySample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  /** Of histograms: the name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/**
 * Renders what prom-client counted, in either format, without `# EOF`. prom-client can write OpenMetrics itself, but renames the
 * counters of the registry for good when it does, so that the two formats cannot be served by turns.
 */
export async function renderRegistry(registry: Registry, format: ExpositionFormat): Promise<string> {
  const metrics = await registry.getMetricsAsJSON();
  return metrics
    .map(({ name, help, type, values }) => {
      const samples = values.map((sample) => formatSample(sample, name, format)).join("");
      return formatFamily({ name, help, type: String(type) }, samples, format);
    })
    .join("");
}

function formatSample({ value, labels, metricName }: RegistrySample, name: string, format: ExpositionFormat): string {
  const texts: Record<string, string> = {};
  for (const [label, text] of Object.entries(labels)) {
    if (text === undefined) continue;
    texts[label] = label === "le" && typeof text === "number" ? formatBound(text, format) : String(text);
  }
  return `${metricName ?? name}${formatLabels(texts)} ${formatValue(value)}\n`;
}

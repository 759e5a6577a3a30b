import type { Instrument } from "./catalogue.ts";

/** Prometheus text format 0.0.4, or OpenMetrics text format 1.0. */
export type ExpositionFormat = "text" | "openmetrics";

/** The exact content types (Prometheus' exposition formats; OpenMetrics 1.0, "Protocol Negotiation"). */
export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

interface MediaRange {
  readonly type: string;
  readonly version: string | null;
  readonly quality: number;
}

/**
 * Returns the format that an Accept header asks for: the highest q-value wins, of equal ones the first. Anything,
 * nothing that we have, or no header gives text, as with every exporter (never a 406).
 */
export function negotiateFormat(accept: string | undefined): ExpositionFormat {
  const ranges = (accept ?? "").split(",").map(parseMediaRange);
  for (const range of ranges.filter(({ quality }) => quality > 0).sort((left, right) => right.quality - left.quality)) {
    if (range.type === "application/openmetrics-text" && (range.version === null || range.version === "1.0.0")) {
      return "openmetrics";
    }
    if (range.type === "text/plain" || range.type === "text/*" || range.type === "*/*") return "text";
  }
  return "text";
}

function parseMediaRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const values = new Map(
    parameters.map((parameter) => {
      const [name = "", value = ""] = parameter.split("=").map((part) => part.trim());
      return [name, value.replace(/^"(.*)"$/, "$1")] as const;
    }),
  );
  const quality = values.has("q") ? Number.parseFloat(values.get("q") ?? "") : 1;
  return { type, version: values.get("version") ?? null, quality: Number.isNaN(quality) ? 0 : quality };
}

// NUL to US never need escaping in either format; backslash, quote and newline do.
const needsEscape = /[\\"\n]/;
const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

/** Returns a label's value as both formats want it inside quotes. Lone surrogates, which UTF-8 cannot carry, become U+FFFD. */
export function escapeLabelValue(value: string): string {
  const wellFormed = value.toWellFormed();
  return needsEscape.test(wellFormed) ? wellFormed.replace(/[\\"\n]/g, (found) => escapes[found] ?? found) : wellFormed;
}

/** `{a="x",b="y"}`, or nothing without labels. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  let pairs = "";
  // No arrays are made, because a scrape formats the labels of ten thousand gates.
  for (const name of Object.keys(labels))
    pairs += `${pairs === "" ? "" : ","}${name}="${escapeLabelValue(labels[name] ?? "")}"`;
  return pairs === "" ? "" : `{${pairs}}`;
}

/** Formats a sample's value; both formats read JavaScript's shortest form, only infinities are spelled otherwise. */
export function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

/** Formats a histogram's upper bound: OpenMetrics wants the canonical float, with a point ("Considerations: Canonical Numbers"). */
export function formatBound(bound: number, format: ExpositionFormat): string {
  const text = formatValue(bound);
  return format === "openmetrics" && /^\d+$/.test(text) ? `${text}.0` : text;
}

/** The parts of a metric's head. The type is a word of the text format that OpenMetrics has, too. */
export interface MetricHead extends Pick<Instrument, "name" | "help"> {
  readonly type: string;
}

/** Formats the HELP and TYPE lines of one metric. OpenMetrics names the family of a counter without its `_total`. */
export function formatHead({ name, type, help }: MetricHead, format: ExpositionFormat): string {
  if (format === "text") {
    const text = help.replace(/[\\\n]/g, (found) => escapes[found] ?? found);
    return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n`;
  }
  const family = type === "counter" ? name.replace(/_total$/, "") : name;
  return `# TYPE ${family} ${type}\n# HELP ${family} ${escapeLabelValue(help)}\n`;
}

/** One metric with its samples, of which each is a whole line with its line feed; nothing when there are none. */
export function formatFamily(head: MetricHead, samples: string, format: ExpositionFormat): string {
  return samples === "" ? "" : formatHead(head, format) + samples;
}

/** Returns what ends an answer. */
export function formatEnd(format: ExpositionFormat): string {
  return format === "openmetrics" ? "# EOF\n" : "";
}

import type { Instrument } from "./catalogue.ts";

export const contentType = "text/plain; version=0.0.4; charset=utf-8";

const needsEscape = /[\\"\n]/;
const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

/** Returns a label's value as it stands inside quotes. Lone surrogates become U+FFFD, as UTF-8 has none. */
export function escapeLabelValue(value: string): string {
  const wellFormed = value.toWellFormed();
  return needsEscape.test(wellFormed) ? wellFormed.replace(/[\\"\n]/g, (found) => escapes[found] ?? found) : wellFormed;
}

/** Labels with a value. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Formats a sample's value: JavaScript's shortest form, but with Prometheus's infinities. */
export function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

export function formatHead(name: string, { type, help }: Instrument): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** Formats a metric with its samples; empty: no samples. */
export function formatFamily(family: string, instrument: Instrument, samples: readonly Sample[]): string {
  let lines = "";
  for (const [labels, value] of samples) {
    let pairs = "";
    // No arrays: a scrape formats the labels of ten thousand gates.
    for (const name of Object.keys(labels))
      pairs += `${pairs === "" ? "{" : ","}${name}="${escapeLabelValue(labels[name] ?? "")}"`;
    lines += `${family}${pairs === "" ? "" : `${pairs}}`} ${formatValue(value)}\n`;
  }
  return lines === "" ? "" : formatHead(family, instrument) + lines;
}

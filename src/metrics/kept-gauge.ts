import { checkKey } from "../contract/check-key.ts";
import type { CheckName } from "../contract/report.ts";
import type { Instrument } from "./catalogue.ts";
import { targetLabels } from "./check-verdict.ts";
import { textPart, type ExpositionPart } from "./exposition-body.ts";
import { formatHead, formatValue, type ExpositionFormat } from "./exposition.ts";

/** A gauge with a value for each (check, slug) that seldom changes. */
export interface KeptGauge {
  /** Shows a value; null: none. */
  set(check: CheckName, slug: string, value: number | null): void;
  /** Renders the whole family, without `# EOF`. */
  render(format: ExpositionFormat): readonly ExpositionPart[];
}

/** Creates a gauge whose lines are joined at the first scrape after a change, and compressed then. */
export function createKeptGauge(instrument: Instrument): KeptGauge {
  const lines = new Map<string, string>();
  let bytes: Buffer | null = null;
  return {
    set: (check, slug, value) => {
      const id = checkKey({ check, slug });
      if (value === null) lines.delete(id);
      else lines.set(id, `${instrument.name}{${targetLabels(check, slug)}} ${formatValue(value)}\n`);
      bytes = null;
    },
    render: (format) => {
      if (lines.size === 0) return [];
      bytes ??= Buffer.from([...lines.values()].join(""));
      return [textPart(formatHead(instrument, format)), { bytes, isKept: true }];
    },
  };
}

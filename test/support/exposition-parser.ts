/** One metric of an exposition, read back. */
export interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: ParsedSample[];
}

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;

/**
 * Reads text format 0.0.4, strictly: throws on a line that is none of it, a family whose lines are not together or that
 * has no HELP or TYPE, a sample under a wrong family, the same series twice.
 */
export function parseExposition(text: string): Map<string, ParsedFamily> {
  if (!text.endsWith("\n")) throw new Error("does not end with a line feed");
  const lines = text.slice(0, -1).split("\n");
  const families = new Map<string, ParsedFamily>();
  const seen = new Set<string>();
  let head: { name: string; type?: string; help?: string } | null = null;
  let current: ParsedFamily | null = null;
  for (const line of lines) {
    if (line === "") continue;
    const meta = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) ([^\n]+)$/.exec(line);
    if (meta !== null) {
      const [, kind = "", name = "", rest = ""] = meta;
      if (families.has(name)) throw new Error(`${name} twice`);
      if (head === null || head.name !== name) head = { name };
      head = kind === "HELP" ? { ...head, help: unescape(rest, /\\([\\n])/g) } : { ...head, type: rest };
      current = null;
      continue;
    }
    if (current === null) {
      if (head?.type === undefined || head.help === undefined) throw new Error(`without HELP and TYPE: ${line}`);
      current = { name: head.name, type: head.type, help: head.help, samples: [] };
      families.set(head.name, current);
    }
    const sample = parseSample(line);
    if (!sampleNames(current).includes(sample.name)) throw new Error(`${sample.name} under ${current.name}`);
    const series = `${sample.name}${JSON.stringify(Object.entries(sample.labels))}`;
    if (seen.has(series)) throw new Error(`twice: ${series}`);
    seen.add(series);
    current.samples.push(sample);
  }
  return families;
}

/** The value of one series; null when it is absent. Labels that are not given are not compared. */
export function seriesValue(
  families: ReadonlyMap<string, ParsedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const found = [...families.values()]
    .flatMap((family) => family.samples)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value));
  if (found.length > 1) throw new Error(`${found.length} series of ${name} match`);
  return found[0]?.value ?? null;
}

function sampleNames({ name, type }: ParsedFamily): string[] {
  return type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

function parseSample(line: string): ParsedSample {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/su.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = "", labelText = "", valueText = ""] = match;
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  let position = 0;
  while (position < labelText.length) {
    labelPattern.lastIndex = position;
    const label = labelPattern.exec(labelText);
    if (label === null) throw new Error(`not labels: ${labelText}`);
    const [whole, key = "", value = ""] = label;
    if (key in labels) throw new Error(`label ${key} twice: ${line}`);
    labels[key] = unescape(value, /\\([\\n"])/g);
    position += whole.length;
  }
  return { name, labels, value: parseValue(valueText) };
}

function unescape(text: string, pattern: RegExp): string {
  return text.replace(pattern, (_whole, escaped: string) => (escaped === "n" ? "\n" : escaped));
}

function parseValue(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  if (text === "-Inf") return Number.NEGATIVE_INFINITY;
  if (text !== "NaN" && !/^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$/.test(text)) throw new Error(`not a number: ${text}`);
  return Number(text);
}

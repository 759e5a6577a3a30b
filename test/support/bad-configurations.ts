import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../src/config/testdata/bad", import.meta.url));

/** A configuration that is refused, with its problems as `LINE:COLUMN: path: message`. */
export interface BadConfiguration {
  readonly name: string;
  readonly text: string;
  readonly problems: readonly string[];
}

/** A file of them: for each a line `### NAME`, the YAML, and each problem after `#: `. */
export interface BadConfigurations {
  readonly file: string;
  /** Absolute. */
  readonly path: string;
  readonly all: readonly BadConfiguration[];
}

/** Returns every refused configuration of the test data, by file. */
export function badConfigurations(): readonly BadConfigurations[] {
  return readdirSync(folder).map((file) => {
    const path = `${folder}/${file}`;
    const [, ...parts] = `\n${readFileSync(path, "utf8")}`.split(/\n### /);
    return { file, path, all: parts.map(readPart) };
  });
}

function readPart(part: string): BadConfiguration {
  const [name = "", ...lines] = part.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.startsWith("#: "));
  const text = lines.slice(0, first).map((line) => `${line}\n`);
  return { name, text: text.join(""), problems: lines.slice(first).map((line) => line.slice(3)) };
}

/** Returns the text of a file of them. */
export function renderBadConfigurations(all: readonly BadConfiguration[]): string {
  const parts = all.map(({ name, text, problems }) => [
    `### ${name}\n${text}`,
    ...problems.map((one) => `#: ${one}\n`),
  ]);
  return parts.map((part) => part.join("")).join("\n");
}

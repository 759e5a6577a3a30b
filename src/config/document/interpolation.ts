export type Environment = Readonly<Record<string, string | undefined>>;

/** What a reference stands for. */
export interface References {
  readonly environment: Environment;
  /** Returns the text of a file, or why there is none: `the file /run/key does not exist`. */
  readonly file: (path: string) => { readonly text: string } | { readonly problem: string };
}

export interface Interpolated {
  readonly value: string;
  /** The problems of the references in the text; never contain a value. */
  readonly problems: readonly string[];
  /** True if the text was exactly one `${…}`. */
  readonly isWholeReference: boolean;
  /** The paths of the files whose text is in the value, or would be if they could be read. */
  readonly files: readonly string[];
}

const reference = /\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(\}|:-)|file:([^{}]+)\})/y;
const grammar = "a reference is ${NAME}, ${NAME:-default} or ${file:PATH}; write $${ for a dollar before a brace";

/**
 * Replaces `${NAME}`, `${NAME:-default}`, `${file:PATH}` and `$$` in one string of the configuration (CONTRACT 4). As in a shell,
 * a default also replaces an empty variable and may contain references; a single `$` is a dollar. Replaced text is not
 * scanned again.
 */
export function interpolate(text: string, references: References): Interpolated {
  const scanner = new Scanner(text, references);
  const value = scanner.read(false);
  const isWholeReference = scanner.references === 1 && scanner.literals === 0;
  return {
    value,
    problems: scanner.problems.map(({ message }) => message),
    isWholeReference,
    files: scanner.files,
  };
}

class Scanner {
  readonly problems: { readonly message: string; readonly isMissing?: true }[] = [];
  readonly files: string[] = [];
  references = 0;
  literals = 0;
  readonly #text: string;
  readonly #from: References;
  #at = 0;

  constructor(text: string, from: References) {
    this.#text = text;
    this.#from = from;
  }

  /** Reads to the end of the text or, within a default, to its closing brace, which is consumed. */
  read(isDefault: boolean): string {
    let value = "";
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? "";
      if (isDefault && char === "}") {
        this.#at++;
        return value;
      }
      if (char === "$" && this.#text[this.#at + 1] === "{") {
        value += this.#readReference(isDefault);
        continue;
      }
      this.#at += char === "$" && this.#text[this.#at + 1] === "$" ? 2 : 1;
      if (!isDefault) this.literals++;
      value += char;
    }
    if (isDefault) this.problems.push({ message: "a ${…} is not closed" });
    return value;
  }

  #readReference(isNested: boolean): string {
    if (!isNested) this.references++;
    reference.lastIndex = this.#at;
    const match = reference.exec(this.#text);
    if (match === null) {
      this.problems.push({ message: grammar });
      this.#at = this.#text.length;
      return "";
    }
    this.#at += match[0].length;
    const [, name = "", end, path] = match;
    if (path !== undefined) return this.#readFile(path);
    const { environment } = this.#from;
    const stored = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (end === "}") {
      if (stored === undefined)
        this.problems.push({ message: `environment variable ${name} is not set, and has no default`, isMissing: true });
      return stored ?? "";
    }
    const [problemsBefore, filesBefore] = [this.problems.length, this.files.length];
    const standIn = this.read(true);
    if (stored === undefined || stored === "") return standIn;
    // In an unused default, what is missing does not matter; a syntax error does.
    this.files.length = filesBefore;
    this.problems.push(...this.problems.splice(problemsBefore).filter(({ isMissing }) => isMissing !== true));
    return stored;
  }

  #readFile(path: string): string {
    this.files.push(path);
    const found = this.#from.file(path);
    if ("text" in found) return found.text;
    this.problems.push({ message: found.problem, isMissing: true });
    return "";
  }
}

const integer = /^[-+]?[0-9]+$/;
const prefixedInteger = /^0(?:o[0-7]+|x[0-9a-fA-F]+)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** Reads an unquoted `text` as in YAML 1.2's core schema: a number, a boolean, otherwise null. */
export function readCoreScalar(text: string): number | boolean | null {
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (integer.test(text) || prefixedInteger.test(text) || float.test(text)) return Number(text);
  return null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Interpolated {
  readonly value: string;
  /** The problems of the references in the text; never contain a value. */
  readonly problems: readonly string[];
  /** True if the text was exactly one `${…}`. */
  readonly isWholeReference: boolean;
}

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(\}|:-)/y;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `$$` in one string of the configuration (CONTRACT 4). As in a shell, a default
 * also replaces an empty variable and may contain references; a single `$` is a dollar. Replaced text is not scanned again.
 */
export function interpolate(text: string, environment: Environment): Interpolated {
  const scanner = new Scanner(text, environment);
  const value = scanner.read(false);
  const isWholeReference = scanner.references === 1 && scanner.literals === 0;
  return { value, problems: scanner.problems, isWholeReference };
}

class Scanner {
  readonly problems: string[] = [];
  references = 0;
  literals = 0;
  readonly #text: string;
  readonly #environment: Environment;
  #at = 0;

  constructor(text: string, environment: Environment) {
    this.#text = text;
    this.#environment = environment;
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
    if (isDefault) this.problems.push("a ${…} is not closed");
    return value;
  }

  #readReference(isNested: boolean): string {
    if (!isNested) this.references++;
    reference.lastIndex = this.#at;
    const match = reference.exec(this.#text);
    if (match === null) {
      this.problems.push("a reference is ${NAME} or ${NAME:-default}; write $${ for a dollar before a brace");
      this.#at = this.#text.length;
      return "";
    }
    this.#at += match[0].length;
    const name = match[1] ?? "";
    const stored = Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined;
    if (match[2] === "}") {
      if (stored === undefined) this.problems.push(`environment variable ${name} is not set, and has no default`);
      return stored ?? "";
    }
    const problemsBefore = this.problems.length;
    const standIn = this.read(true);
    if (stored === undefined || stored === "") return standIn;
    // In an unused default, an unset variable does not matter; a syntax error does.
    const unused = this.problems
      .splice(problemsBefore)
      .filter((problem) => !problem.startsWith("environment variable"));
    this.problems.push(...unused);
    return stored;
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

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
export function interpolate(text: string, { environment, file }: References): Interpolated {
  let problems: { readonly message: string; readonly isMissing?: true }[] = [];
  let files: string[] = [];
  let at = 0;
  let references = 0;
  let literals = 0;

  /** Reads to the end of the text or, within a default, to its closing brace, which is consumed. */
  function read(isDefault: boolean): string {
    let value = "";
    while (at < text.length) {
      if (isDefault && text[at] === "}") {
        at++;
        return value;
      }
      if (text.startsWith("${", at)) {
        if (!isDefault) references++;
        value += readReference();
        continue;
      }
      value += text[at] ?? "";
      at += text.startsWith("$$", at) ? 2 : 1;
      if (!isDefault) literals++;
    }
    if (isDefault) problems.push({ message: "a ${…} is not closed" });
    return value;
  }

  function readReference(): string {
    reference.lastIndex = at;
    const match = reference.exec(text);
    if (match === null) {
      problems.push({ message: grammar });
      at = text.length;
      return "";
    }
    at += match[0].length;
    const [, name = "", end, path] = match;
    if (path !== undefined) {
      files.push(path);
      const found = file(path);
      if ("text" in found) return found.text;
      problems.push({ message: found.problem, isMissing: true });
      return "";
    }
    const stored = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (end === "}") {
      if (stored === undefined)
        problems.push({ message: `environment variable ${name} is not set, and has no default`, isMissing: true });
      return stored ?? "";
    }
    const before = { problems, files };
    [problems, files] = [[], []];
    const standIn = read(true);
    const isUnused = stored !== undefined && stored !== "";
    // In an unused default, what is missing does not matter; a syntax error does.
    problems = [...before.problems, ...problems.filter(({ isMissing }) => !isUnused || isMissing !== true)];
    files = isUnused ? before.files : [...before.files, ...files];
    return isUnused ? stored : standIn;
  }

  const value = read(false);
  const isWholeReference = references === 1 && literals === 0;
  return { value, problems: problems.map(({ message }) => message), isWholeReference, files };
}

/** Reads an unquoted `text` as in YAML 1.2's core schema: a number, a boolean, otherwise null. */
export function readCoreScalar(text: string): number | boolean | null {
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) return text.toLowerCase() === "true";
  const isNumber = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^0(?:o[0-7]+|x[0-9a-fA-F]+)$/.test(
    text,
  );
  return isNumber ? Number(text) : null;
}

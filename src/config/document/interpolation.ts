import { parse } from "yaml";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The text of a file, or the problem: `the file /run/key does not exist`. */
export type FileText = { readonly text: string } | { readonly problem: string };

export interface Interpolated {
  readonly value: string;
  /** The problems of the references in the text; never contain a value. */
  readonly problems: readonly string[];
  /** The text was exactly one `${…}`. */
  readonly isWholeReference: boolean;
}

const reference = /\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(\}|:-)|file:([^{}]+)\})/y;
const grammar = "a reference is ${NAME}, ${NAME:-default} or ${file:PATH}; write $${ for a dollar before a brace";

/**
 * Replaces `${NAME}`, `${NAME:-default}`, `${file:PATH}` and `$$` in one string of the configuration (CONTRACT 4). As
 * in a shell, a default also replaces an empty variable and may contain references; a single `$` is a dollar. Replaced
 * text is not scanned again. `file` is asked for each file that the value needs.
 */
export function interpolate(text: string, environment: Environment, file: (path: string) => FileText): Interpolated {
  const problems: string[] = [];
  let at = 0;

  /** Reads to the end of the text or, within a default, to its closing brace, which is consumed. */
  function read(isDefault: boolean, isUsed: boolean): string {
    let value = "";
    while (at < text.length) {
      if (isDefault && text[at] === "}") {
        at++;
        return value;
      }
      if (text.startsWith("${", at)) value += readReference(isUsed);
      else {
        value += text[at] ?? "";
        at += text.startsWith("$$", at) ? 2 : 1;
      }
    }
    if (isDefault) problems.push("a ${…} is not closed");
    return value;
  }

  /** In an unused default a missing variable or file is no problem, but a syntax error is. */
  function readReference(isUsed: boolean): string {
    reference.lastIndex = at;
    const match = reference.exec(text);
    at = match === null ? text.length : reference.lastIndex;
    if (match === null) {
      problems.push(grammar);
      return "";
    }
    const [, name = "", end, path] = match;
    if (path !== undefined) {
      const found = isUsed ? file(path) : { text: "" };
      if ("problem" in found) problems.push(found.problem);
      return "text" in found ? found.text : "";
    }
    const stored = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (end === "}") {
      if (stored === undefined && isUsed) problems.push(`environment variable ${name} is not set, and has no default`);
      return stored ?? "";
    }
    const isSet = stored !== undefined && stored !== "";
    const standIn = read(true, isUsed && !isSet);
    return isSet ? stored : standIn;
  }

  const first = text.startsWith("${") ? readReference(true) : "";
  const isWholeReference = at > 0 && at === text.length;
  return { value: first + read(false, true), problems, isWholeReference };
}

/** Reads an unquoted `text` by YAML 1.2's core schema: a number or a boolean; null: neither. */
export function readCoreScalar(text: string): number | boolean | null {
  const value: unknown = /^[-+.\w]+$/.test(text) ? parse(text, { version: "1.2", schema: "core" }) : null;
  return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)) ? value : null;
}

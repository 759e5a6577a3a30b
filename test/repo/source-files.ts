import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** One TypeScript file of the project, as the rules of the repository see it. */
export interface SourceFile {
  /** From the project's folder, with slashes. */
  readonly path: string;
  readonly text: string;
  /** The text with comments, regular expressions and the insides of strings blanked; positions are as in `text`. */
  readonly code: string;
}

export interface Import {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  readonly line: number;
}

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

/** All TypeScript files below a folder of the project, in order of their paths. */
export function readSourceFiles(folder: string): SourceFile[] {
  return (
    readdirSync(join(projectFolder, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      // Of what CI installs beside a test.
      .filter((entry) => !entry.parentPath.includes("node_modules"))
      .map((entry) => relative(projectFolder, join(entry.parentPath, entry.name)).split(sep).join("/"))
      .toSorted()
      .map((path) => sourceFile(path, readFileSync(join(projectFolder, path), "utf8")))
  );
}

export function sourceFile(path: string, text: string): SourceFile {
  return { path, text, code: codeOf(text) };
}

/** What the file imports or exports on, dynamic imports included. */
export function importsOf({ text, code }: SourceFile): Import[] {
  const found: Import[] = [];
  // The statement is found in the code, where no comment can look like one, and read in the text.
  for (const match of code.matchAll(/^(?:import|export)\b[^;]*?"[^"\n]*"|\bimport\(\s*"[^"\n]*"/gm)) {
    const statement = text.slice(match.index, match.index + match[0].length);
    if (/^export\b/.test(statement) && !/\bfrom\s+"[^"]*"$/.test(statement)) continue;
    const specifier = /"([^"]*)"$/.exec(statement)?.[1];
    if (specifier === undefined) continue;
    const line = text.slice(0, match.index).split("\n").length;
    found.push({ specifier, isTypeOnly: /^(?:import|export)\s+type\b/.test(statement), line });
  }
  return found;
}

/** Same length, same lines: comments and what stands in quotes become spaces; code within templates stays. */
function codeOf(text: string): string {
  let code = "";
  // Depths of braces: one for the file, one more for each `${` that is open.
  const depths = [0];
  let inTemplate = false;
  while (code.length < text.length) {
    const rest = text.slice(code.length, code.length + longestToken);
    const token = inTemplate ? templateToken(rest) : codeToken(rest, code);
    code += token.code;
    if (token.kind === "template") inTemplate = !inTemplate;
    else if (token.kind === "expression") {
      depths.push(0);
      inTemplate = false;
    } else if (token.kind === "open") depths.push((depths.pop() ?? 0) + 1);
    else if (token.kind === "close") {
      const depth = depths.pop() ?? 0;
      if (depth > 0 || depths.length === 0) depths.push(depth - 1);
      else inTemplate = true;
    }
  }
  return code;
}

interface Token {
  readonly kind: "text" | "template" | "expression" | "open" | "close";
  /** What it leaves, as long as it is. */
  readonly code: string;
}

// Longer than any comment or string of the project: slices keep the scan linear.
const longestToken = 8_192;
const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");

function templateToken(rest: string): Token {
  if (rest.startsWith("`")) return { kind: "template", code: "`" };
  if (rest.startsWith("${")) return { kind: "expression", code: "${" };
  const text = /^(?:\\[^]|\$(?!\{)|[^\\`$])+/.exec(rest)?.[0] ?? rest.slice(0, 1);
  return { kind: "text", code: blank(text) };
}

function codeToken(rest: string, before: string): Token {
  const comment = /^(?:\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))/.exec(rest)?.[0];
  if (comment !== undefined) return { kind: "text", code: blank(comment) };
  const string = /^(["'])(?:\\.|(?!\1)[^\\\n])*\1/.exec(rest);
  if (string !== null) return { kind: "text", code: `${string[1]}${blank(string[0].slice(1, -1))}${string[1]}` };
  // A slash after a value divides; anywhere else a regular expression begins.
  const pattern = /[\w)\]]\s*$/.test(before.slice(-40))
    ? null
    : /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/.exec(rest);
  if (pattern !== null) return { kind: "text", code: blank(pattern[0]) };
  const first = rest.slice(0, 1);
  if (first === "`") return { kind: "template", code: first };
  if (first === "{") return { kind: "open", code: first };
  if (first === "}") return { kind: "close", code: first };
  return { kind: "text", code: /^\w+/.exec(rest)?.[0] ?? first };
}

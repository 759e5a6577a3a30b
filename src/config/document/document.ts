import { dirname, resolve } from "node:path";

import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  type Alias,
  type Document,
  type Node,
  type Pair,
  type YAMLParseError,
  type YAMLMap,
  visit,
} from "yaml";

import { maxSecretBytes, readRegularFile } from "./files.ts";
import { interpolate, type Environment, type References } from "./interpolation.ts";
import { formatPath, type Position, type Problem, type YamlPath } from "./problems.ts";

/** A node with its position. */
interface PlacedNode {
  readonly at: number;
  /** Position of its key; null for list items and the root. */
  readonly keyAt: number | null;
  readonly children: Map<string | number, PlacedNode>;
  /** The text of an unquoted scalar that was exactly one `${…}`. */
  readonly wholeReference: string | null;
  /** False: it is not what was meant, as a reference could not be replaced or has a placeholder. */
  readonly isKnown: boolean;
}

/** One YAML file as plain data with references replaced, with the position of each value. */
export interface ConfigDocument {
  /** The name in messages. */
  readonly file: string;
  readonly absolutePath: string;
  /** The absolute folder to which paths in the file are relative. */
  readonly folder: string;
  /** Plain objects, arrays and scalars. A key without a value is `undefined`, as if it were absent. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** The absolute paths of the files whose text `${file:…}` puts into it. */
  readonly files: readonly string[];
  /** The values that have the text of a file, and the texts. */
  readonly fileValues: readonly FileValue[];
  /** False if the file is not YAML; `value` is then meaningless. */
  readonly isReadable: boolean;
  /** Whether the value at `path` is what was meant: not where a reference could not be replaced, or has a placeholder. */
  isKnown(path: YamlPath): boolean;
  /** Returns the text at `path` if it came from a single unquoted `${…}`, to be parsed again where a number is expected. */
  wholeReferenceAt(path: YamlPath): string | null;
  /** Creates the problem `message` at the value of `path`, or at its key; without one, at the parent. */
  problemAt(path: YamlPath, message: string, part?: "value" | "key"): Problem;
  /** Returns `file:line` of the value at `path`. */
  lineOf(path: YamlPath): string;
}

/** A value of the configuration that a file is a part of. */
export interface FileValue {
  readonly path: YamlPath;
  readonly texts: readonly string[];
}

export interface DocumentSource {
  readonly file: string;
  readonly absolutePath: string;
  readonly bytes: Uint8Array;
  readonly environment: Environment;
  /** No file is read for `${file:…}`; its path is a placeholder for its text [false]. */
  readonly isWithoutFiles?: boolean;
}

// Ten thousand organizations that share their settings fit, a "billion laughs" document does not.
const maxAliasedNodes = 200_000;
const maxDepth = 64;

/** Reads one file: YAML 1.2, one document (CONTRACT 4). Never throws; errors are in `problems`. */
export async function readDocument(source: DocumentSource): Promise<ConfigDocument> {
  const lines = new LineCounter();
  const reader = new Reader(source, lines);
  const text = decodeText(source.bytes);
  const parsed = text === null ? null : reader.parse(text);
  const files = await reader.readFiles(parsed);
  const root = text === null ? reader.refuse("is not UTF-8 text") : reader.convert(parsed);
  const find = (path: YamlPath): PlacedNode | undefined =>
    path.reduce<PlacedNode | undefined>((node, step) => node?.children.get(step), root.place);
  const positionOf = (path: YamlPath, part: "value" | "key" = "value"): Position => {
    // A missing value is reported at the map that should contain it.
    const node = path.reduce((parent, step) => parent.children.get(step) ?? parent, root.place);
    return reader.position(part === "key" ? (node.keyAt ?? node.at) : node.at);
  };
  return {
    file: source.file,
    absolutePath: source.absolutePath,
    folder: dirname(source.absolutePath),
    value: root.value,
    problems: reader.problems,
    files,
    fileValues: reader.fileValues,
    isReadable: reader.isReadable,
    problemAt: (path, message, part = "value") => ({
      file: source.file,
      ...positionOf(path, part),
      path: formatPath(path),
      message,
    }),
    lineOf: (path) => `${source.file}:${positionOf(path).line}`,
    isKnown: (path) => find(path)?.isKnown ?? true,
    wholeReferenceAt: (path) => find(path)?.wholeReference ?? null,
  };
}

/** Returns the text of a file; null: it is no UTF-8. */
function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

interface Placed {
  readonly value: unknown;
  readonly place: PlacedNode;
}

function placed(
  value: unknown,
  at: number,
  keyAt: number | null = null,
  children: PlacedNode["children"] = new Map(),
  wholeReference: string | null = null,
): Placed {
  return { value, place: { at, keyAt, children, wholeReference, isKnown: true } };
}

function unknownPlace(value: unknown, at: number, keyAt: number | null): Placed {
  return { value, place: { at, keyAt, children: new Map(), wholeReference: null, isKnown: false } };
}

type FileText = ReturnType<References["file"]>;

class Reader {
  readonly problems: Problem[] = [];
  readonly fileValues: FileValue[] = [];
  isReadable = true;
  readonly #files = new Map<string, FileText>();
  readonly #source: DocumentSource;
  readonly #lines: LineCounter;
  // The library searches the whole document for each anchor.
  readonly #anchors = new Map<string, Node>();
  #aliasedNodes = 0;
  #hasTooManyAliases = false;
  readonly #openAnchors = new Set<Node>();

  constructor(source: DocumentSource, lines: LineCounter) {
    this.#source = source;
    this.#lines = lines;
  }

  refuse(message: string, at = 0, path: YamlPath = []): Placed {
    this.#report(at, path, message);
    this.isReadable = false;
    return placed(undefined, 0);
  }

  /** Returns what the text holds; null: nothing that can be read. */
  parse(text: string): Document.Parsed | null {
    let document: Document.Parsed;
    try {
      document = parseDocument(text, {
        version: "1.2",
        schema: "core",
        // YAML 1.1 has values that are neither text nor number, such as !!binary.
        resolveKnownTags: false,
        lineCounter: this.#lines,
        prettyErrors: false,
        // Duplicate keys are found below, where the path is known.
        uniqueKeys: false,
      });
    } catch (error) {
      this.refuse(error instanceof RangeError ? "is nested too deeply" : String(error));
      return null;
    }
    this.#reportSyntax(document, text);
    return this.isReadable ? document : null;
  }

  /** Reads the files that `${file:…}` names; returns their absolute paths. */
  async readFiles(document: Document.Parsed | null): Promise<readonly string[]> {
    const { environment, absolutePath, isWithoutFiles = false } = this.#source;
    const names = new Set<string>();
    const note: References = { environment, file: () => ({ text: "" }) };
    if (document !== null)
      visit(document, {
        Scalar: (_key, { value }) => {
          if (typeof value === "string" && value.includes("${"))
            for (const file of interpolate(value, note).files) names.add(file);
        },
      });
    for (const name of names)
      this.#files.set(name, isWithoutFiles ? { text: name } : await readText(resolve(dirname(absolutePath), name)));
    return [...names].map((name) => resolve(dirname(absolutePath), name));
  }

  convert(document: Document.Parsed | null): Placed {
    if (document === null) return placed(undefined, 0);
    // The file has only comments: every key is missing.
    if (document.contents === null || isEmptyScalar(document.contents)) return placed({}, 0);
    return this.#convert(document.contents, [], null, false);
  }

  #reportSyntax(document: Document.Parsed, text: string): void {
    let lastLine = 0;
    for (const error of document.errors) {
      this.isReadable = false;
      const { line } = this.position(error.pos[0]);
      // One mistake causes several errors in a row; the first is the most useful.
      if (line === lastLine) continue;
      lastLine = line;
      const isReference =
        (/\$\{/.test(text.split("\n")[line - 1] ?? "") && error.code === "UNEXPECTED_TOKEN") ||
        // In a list, `${` is an item and a brace without a start.
        (text.startsWith("${", error.pos[0] - 1) && error.code === "MISSING_CHAR");
      const hint = isReference ? '; within { } and [ ] a reference needs quotes: "${NAME}"' : "";
      const message = syntaxMessage(error);
      this.#report(error.pos[0], [], `${message}${hint}`);
      // The braces are unbalanced from here on.
      if (isReference) break;
    }
    for (const warning of document.warnings) this.#report(warning.pos[0], [], warning.message);
    const { explicit, version } = document.directives.yaml;
    if (explicit === true && version !== "1.2") this.#report(0, [], `the file must be YAML 1.2, not ${version}`);
  }

  #convert(node: Node, path: YamlPath, keyAt: number | null, isAliased: boolean): Placed {
    const at = node.range?.[0] ?? 0;
    if (isAliased && ++this.#aliasedNodes > maxAliasedNodes) {
      if (!this.#hasTooManyAliases) this.#report(at, path, `aliases repeat more than ${maxAliasedNodes} values`);
      this.#hasTooManyAliases = true;
      return unknownPlace(undefined, at, keyAt);
    }
    if (isAlias(node)) return this.#convertAlias(node, path, keyAt, at);
    if (!isAliased && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (path.length > maxDepth) {
      this.#report(at, path.slice(0, 1), "is nested too deeply");
    } else if (isMap(node)) {
      return this.#convertMap(node, path, keyAt, isAliased);
    } else if (isSeq(node)) {
      const items = (node.items as Node[]).map((item, index) => this.#convert(item, [...path, index], null, isAliased));
      const values = items.map(({ value }) => value);
      return placed(values, at, keyAt, new Map(items.map(({ place }, index) => [index, place])));
    } else if (isScalar(node)) {
      return this.#convertScalar(node, path, keyAt, at);
    }
    return unknownPlace(undefined, at, keyAt);
  }

  #convertAlias(node: Alias, path: YamlPath, keyAt: number | null, at: number): Placed {
    const target = this.#anchors.get(node.source);
    if (target === undefined || this.#openAnchors.has(target)) {
      const fault = target === undefined ? "has no anchor before it" : "refers to itself";
      this.#report(at, path, `the alias ${JSON.stringify(`*${node.source}`)} ${fault}`);
      return unknownPlace(undefined, at, keyAt);
    }
    this.#openAnchors.add(target);
    const { value, place } = this.#convert(target, path, keyAt, true);
    this.#openAnchors.delete(target);
    return { value, place: { ...place, at } };
  }

  #convertMap(map: YAMLMap, path: YamlPath, keyAt: number | null, isAliased: boolean): Placed {
    const value: Record<string, unknown> = {};
    const children = new Map<string | number, PlacedNode>();
    this.#openAnchors.add(map);
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      const at = pair.key.range?.[0] ?? 0;
      const key = isScalar(pair.key) && !isEmptyScalar(pair.key) ? String(pair.key.value) : null;
      if (key === null) {
        this.#report(at, path, "a key must be plain text");
        continue;
      }
      const childPath = [...path, key];
      // The key __proto__ would set the prototype of plain data: no setting and no free name may be called so.
      if (key === "__proto__" || children.has(key)) {
        this.#report(at, childPath, key === "__proto__" ? "unknown key" : "the key is already set above");
        continue;
      }
      const child =
        pair.value === null || isEmptyScalar(pair.value)
          ? placed(undefined, at, at)
          : this.#convert(pair.value, childPath, at, isAliased);
      value[key] = child.value;
      children.set(key, child.place);
    }
    this.#openAnchors.delete(map);
    return placed(value, map.range?.[0] ?? 0, keyAt, children);
  }

  #convertScalar(node: Scalar, path: YamlPath, keyAt: number | null, at: number): Placed {
    let { value } = node;
    let wholeReference: string | null = null;
    if (typeof value === "string" && value.includes("$")) {
      const texts: string[] = [];
      const interpolated = interpolate(value, {
        environment: this.#source.environment,
        file: (name) => {
          const found = this.#files.get(name) ?? { text: "" };
          if ("text" in found) texts.push(found.text);
          return found;
        },
      });
      for (const problem of interpolated.problems) this.#report(at, path, problem);
      const isUnread = this.#source.isWithoutFiles === true && interpolated.files.length > 0;
      if (texts.length > 0 && !isUnread) this.fileValues.push({ path, texts });
      // Nothing more is said about it, so that a missing variable is one problem and not two.
      if (interpolated.problems.length > 0 || isUnread) return unknownPlace(interpolated.value, at, keyAt);
      value = interpolated.value;
      if (interpolated.isWholeReference && node.type === Scalar.PLAIN) wholeReference = interpolated.value;
    }
    return placed(value, at, keyAt, undefined, wholeReference);
  }

  position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  #report(offset: number, path: YamlPath, message: string): void {
    this.problems.push({ file: this.#source.file, ...this.position(offset), path: formatPath(path), message });
  }
}

/** Reads what `${file:…}` stands for: the text without its last line end, and without the mark that some editors begin it with. */
async function readText(absolutePath: string): Promise<FileText> {
  const content = await readRegularFile(absolutePath, maxSecretBytes);
  if (content.kind === "unreadable") return { problem: `the file ${absolutePath} ${content.reason}` };
  const text = decodeText(content.bytes);
  return text === null
    ? { problem: `the file ${absolutePath} is not UTF-8 text` }
    : { text: text.replace(/\r?\n$/, "") };
}

function syntaxMessage(error: YAMLParseError): string {
  if (error.code === "MULTIPLE_DOCS") return "the file must hold one document";
  return error.code === "RESOURCE_EXHAUSTION" ? "is nested too deeply" : error.message;
}

function isEmptyScalar(node: Node): boolean {
  return isScalar(node) && !isCollection(node) && node.value === null && (node.source ?? "") === "";
}

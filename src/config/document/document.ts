import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Scalar,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";

import { formatPath, isEmpty, keyOf, offsetOf, YamlText, type YamlPath } from "../../base/yaml-text.ts";
import type { LoadOptions } from "../load.ts";
import { maxConfigBytes, maxSecretBytes, readRegularFile } from "./files.ts";
import { interpolate, type Environment, type FileText } from "./interpolation.ts";
import type { Problem } from "./problems.ts";

/** A value of the configuration that contains the texts of files. */
export interface FileValue {
  readonly path: YamlPath;
  readonly texts: readonly string[];
}

export interface DocumentSource {
  /** The name in messages. */
  readonly file: string;
  readonly absolutePath: string;
  readonly bytes: Uint8Array;
  readonly environment: Environment;
  /** `${file:…}` reads no file: the path is the placeholder of the text [false]. */
  readonly isWithoutFiles?: boolean;
}

/** Advice for syntax errors whose text names the rule of YAML, and not the line that broke it. */
const indentHints: ReadonlyMap<string, string> = new Map([
  [
    "Nested mappings are not allowed in compact mappings",
    '; the next line is indented too far, or this value needs quotes because it has ": "',
  ],
  ["Sequence item without - indicator", "; is this line indented as those above it?"],
]);

/** Reads one document of YAML 1.2 (CONTRACT 4). Never throws; errors are in `problems`. */
export async function readDocument(source: DocumentSource): Promise<ConfigDocument> {
  const document = new ConfigDocument(source);
  await document.read();
  return document;
}

// Enough for ten thousand organizations that share settings, not for a "billion laughs" document.
const maxAliasedNodes = 200_000;
const maxDepth = 64;

/** One YAML file as plain data with references replaced, and the position of each value. */
export class ConfigDocument {
  /** The absolute folder to which paths in the file are relative. */
  readonly folder: string;
  readonly problems: Problem[] = [];
  readonly fileValues: FileValue[] = [];
  /** The texts of `${file:…}` by absolute path. */
  readonly files = new Map<string, FileText>();
  /** Plain objects, arrays and scalars; undefined: no YAML. A key without a value is undefined, too. */
  value: unknown;
  readonly source: DocumentSource;
  #yaml = new YamlText("");
  // The library searches the whole document for each anchor.
  readonly #anchors = new Map<string, Node>();
  readonly #openAnchors = new Set<Node>();
  #aliasedNodes = 0;
  /** Texts by path of unquoted scalars that were exactly one `${…}`. */
  readonly #wholeReferences = new Map<string, string>();
  /** Paths of values with a problem or a placeholder. */
  readonly #unknown = new Set<string>();

  constructor(source: DocumentSource) {
    this.source = source;
    this.folder = dirname(source.absolutePath);
  }

  /** Whether the value at `path` has neither a problem nor a placeholder. */
  isKnown(path: YamlPath): boolean {
    return !this.#unknown.has(formatPath(path));
  }

  /** Returns the text at `path` if it came from a single unquoted `${…}`, which may stand for a number; else null. */
  wholeReferenceAt(path: YamlPath): string | null {
    return this.#wholeReferences.get(formatPath(path)) ?? null;
  }

  /** Creates a problem at the value of `path` or at its key; without one, at the parent. */
  problemAt(path: YamlPath, message: string, part?: "key"): Problem {
    return { file: this.source.file, ...this.#yaml.positionOf(path, part), path: formatPath(path), message };
  }

  /** Returns `file:line` of the value at `path`. */
  lineOf(path: YamlPath): string {
    const { file, line } = this.problemAt(path, "");
    return `${file}:${line}`;
  }

  async read(): Promise<void> {
    const { bytes, environment, isWithoutFiles = false } = this.source;
    if (!isUtf8(bytes)) return this.#report(0, [], "is not UTF-8 text");
    const parsed = this.#parse(decodeText(bytes));
    if (parsed === null) return;
    const names = new Set<string>();
    const note = (name: string): FileText => {
      names.add(name);
      return { text: "" };
    };
    visit(parsed, {
      Scalar: (_key, { value }) => {
        if (typeof value === "string" && value.includes("${file:")) interpolate(value, environment, note);
      },
    });
    for (const name of names) {
      const path = resolve(this.folder, name);
      this.files.set(path, isWithoutFiles ? { text: name } : await readText(path));
    }
    // A file with only comments has no key.
    this.value = isEmpty(parsed.contents) ? {} : this.#convert(parsed.contents, [], false);
  }

  /** Parses YAML and reports its syntax errors; null: it is none. */
  #parse(text: string): Document.Parsed | null {
    // #convertMap finds duplicate keys, because it knows their paths.
    this.#yaml = new YamlText(text);
    const { document, problems } = this.#yaml;
    for (const { code, offset, message } of problems) {
      const { line } = this.#yaml.positionAt(offset);
      const isReference =
        (/\$\{/.test(text.split("\n")[line - 1] ?? "") && code === "UNEXPECTED_TOKEN") ||
        // In a list, `${` is an item and a brace without a start.
        (text.startsWith("${", offset - 1) && code === "MISSING_CHAR");
      const hint = isReference
        ? '; within { } and [ ] a reference needs quotes: "${NAME}"'
        : (indentHints.get(message) ?? "");
      this.#report(offset, [], `${message}${hint}`);
      // The braces are unbalanced from here on.
      if (isReference) break;
    }
    const { explicit, version } = document?.directives.yaml ?? {};
    if (explicit === true && version !== "1.2") this.#report(0, [], `the file must be YAML 1.2, not ${version}`);
    return document;
  }

  #convert(node: Node, path: YamlPath, isAliased: boolean): unknown {
    if (isAliased && ++this.#aliasedNodes > maxAliasedNodes) {
      const isFirst = this.#aliasedNodes === maxAliasedNodes + 1;
      return this.#leaveOut(node, path, isFirst ? `aliases repeat more than ${maxAliasedNodes} values` : null);
    }
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target !== undefined && !this.#openAnchors.has(target)) {
        this.#openAnchors.add(target);
        const value = this.#convert(target, path, true);
        this.#openAnchors.delete(target);
        return value;
      }
      const fault = target === undefined ? "has no anchor before it" : "refers to itself";
      return this.#leaveOut(node, path, `the alias ${JSON.stringify(`*${node.source}`)} ${fault}`);
    }
    if (!isAliased && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (path.length > maxDepth) {
      this.#report(offsetOf(node), path.slice(0, 1), "is nested too deeply");
      return this.#leaveOut(node, path, null);
    }
    if (isMap(node)) return this.#convertMap(node, path, isAliased);
    if (isSeq<Node>(node)) return node.items.map((item, index) => this.#convert(item, [...path, index], isAliased));
    return isScalar(node) ? this.#convertScalar(node, path) : this.#leaveOut(node, path, null);
  }

  /** Reports a value (null: it was reported already) and marks it as unknown: no other problem of it is reported. */
  #leaveOut(node: Node, path: YamlPath, message: string | null): undefined {
    if (message !== null) this.#report(offsetOf(node), path, message);
    this.#unknown.add(formatPath(path));
  }

  #convertMap(map: YAMLMap, path: YamlPath, isAliased: boolean): unknown {
    const value: Record<string, unknown> = {};
    this.#openAnchors.add(map);
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      const at = offsetOf(pair.key);
      const key = keyOf(pair);
      const childPath = [...path, key ?? ""];
      if (key === null) this.#report(at, path, "a key must be plain text");
      // __proto__ would set the prototype of plain data.
      else if (key === "__proto__") this.#report(at, childPath, "unknown key");
      else if (Object.hasOwn(value, key)) this.#report(at, childPath, "the key is already set above");
      else value[key] = isEmpty(pair.value) ? undefined : this.#convert(pair.value, childPath, isAliased);
    }
    this.#openAnchors.delete(map);
    return value;
  }

  #convertScalar(node: Scalar, path: YamlPath): unknown {
    const { value } = node;
    if (typeof value !== "string" || !value.includes("$")) return value;
    const { environment, isWithoutFiles = false } = this.source;
    const texts: string[] = [];
    const replaced = interpolate(value, environment, (name) => {
      const found = this.files.get(resolve(this.folder, name)) ?? { text: "" };
      if ("text" in found) texts.push(found.text);
      return found;
    });
    for (const problem of replaced.problems) this.#report(offsetOf(node), path, problem);
    const isUnread = isWithoutFiles && texts.length > 0;
    if (texts.length > 0 && !isUnread) this.fileValues.push({ path, texts });
    // A missing variable is one problem, not two.
    if (replaced.problems.length > 0 || isUnread) this.#unknown.add(formatPath(path));
    else if (replaced.isWholeReference && node.type === Scalar.PLAIN)
      this.#wholeReferences.set(formatPath(path), replaced.value);
    return replaced.value;
  }

  #report(offset: number, path: YamlPath, message: string): void {
    const { file } = this.source;
    this.problems.push({ file, ...this.#yaml.positionAt(offset), path: formatPath(path), message });
  }
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Reads the text of `${file:…}`, without its last line end. */
async function readText(absolutePath: string): Promise<FileText> {
  const content = await readRegularFile(absolutePath, maxSecretBytes);
  if (content.kind === "unreadable") return { problem: `the file ${absolutePath} ${content.reason}` };
  if (!isUtf8(content.bytes)) return { problem: `the file ${absolutePath} is not UTF-8 text` };
  return { text: decodeText(content.bytes).replace(/\r?\n$/, "") };
}

/** Returns the absolute paths of the configuration file and of the files that it names. */
export async function configFiles({ path, cwd, env }: LoadOptions): Promise<readonly string[]> {
  const absolutePath = resolve(cwd, path);
  const content = await readRegularFile(absolutePath, maxConfigBytes);
  if (content.kind === "unreadable") return [absolutePath];
  const { bytes } = content;
  const { files } = await readDocument({ file: path, absolutePath, bytes, environment: env });
  return [...new Set([absolutePath, ...files.keys()])];
}

/** Returns a hash of the content of the files, which works for mounts and symlinks; an unreadable one counts, too. */
export async function fingerprintFiles(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    const content = await readRegularFile(path, maxConfigBytes);
    if (content.kind === "unreadable") hash.update(`${path}\0none\0`);
    else hash.update(`${path}\0${content.bytes.length}\0`).update(content.bytes);
  }
  return hash.digest("hex");
}

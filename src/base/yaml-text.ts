import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Pair,
} from "yaml";

/** The path from the root of a document to a value. */
export type YamlPath = readonly (string | number)[];

/** Counts from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A text as one document of YAML 1.2, with the place of each value. */
export class YamlText {
  /** null: the text has errors. */
  readonly document: Document.Parsed | null;
  /** The first error of each line, then the warnings. */
  readonly problems: readonly { readonly code: string; readonly offset: number; readonly message: string }[];
  readonly #lines = new LineCounter();

  /** `uniqueKeys`: a repeated key is an error. */
  constructor(text: string, { uniqueKeys = false }: { readonly uniqueKeys?: boolean } = {}) {
    let parsed: Document.Parsed;
    try {
      parsed = parseDocument(text, {
        version: "1.2",
        schema: "core",
        // YAML 1.1 has values that are neither text nor number, such as !!binary.
        resolveKnownTags: false,
        lineCounter: this.#lines,
        prettyErrors: false,
        uniqueKeys,
      });
    } catch (error) {
      this.document = null;
      const message = error instanceof RangeError ? tooDeep : String(error);
      this.problems = [{ code: "IMPOSSIBLE", offset: 0, message }];
      return;
    }
    const { errors, warnings } = parsed;
    // One mistake causes several errors in a row; the first is the most useful.
    const lineOf = ({ pos }: (typeof errors)[number]): number => this.positionAt(pos[0]).line;
    const firsts = errors.filter((error, index) => index === 0 || lineOf(error) !== lineOf(errors[index - 1] ?? error));
    this.document = errors.length === 0 ? parsed : null;
    this.problems = [...firsts, ...warnings].map(({ code, pos, message }) => ({
      code,
      offset: pos[0],
      message: ownMessages[code] ?? message,
    }));
  }

  positionAt(offset: number): TextPosition {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  /** Returns where the value at `path` begins, or its key. A missing value is at the map that should contain it. */
  positionOf(path: YamlPath, part?: "key"): TextPosition {
    let node: unknown = this.document?.contents;
    let at = offsetOf(node);
    for (const step of path) {
      const parent: unknown = isAlias(node) && this.document !== null ? node.resolve(this.document) : node;
      const pairs = isMap(parent) ? (parent.items as Pair<Node, Node | null>[]) : [];
      const found: unknown = isSeq(parent) ? parent.items[Number(step)] : pairs.find((one) => keyOf(one) === step);
      if (found === undefined) break;
      node = isPair(found) ? found.value : found;
      at = offsetOf(isPair(found) && (part === "key" || isEmpty(node)) ? found.key : node);
    }
    return this.positionAt(at);
  }
}

const tooDeep = "is nested too deeply";
const ownMessages: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "the file must hold one document",
  RESOURCE_EXHAUSTION: tooDeep,
};

export function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

/** Returns the key of a pair as text; null: it is empty, or no scalar. */
export function keyOf({ key }: Pair<Node, Node | null>): string | null {
  return isScalar(key) && !isEmpty(key) ? String(key.value) : null;
}

/** Returns whether a value is missing in the text. */
export function isEmpty(node: unknown): node is null {
  return node === null || (isScalar(node) && node.value === null && (node.source ?? "") === "");
}

/** Formats a path, `organizations[1].labels["a.b"]`; the root is `yaml`. */
export function formatPath(path: YamlPath): string {
  if (path.length === 0) return "yaml";
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

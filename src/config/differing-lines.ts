import { isDeepStrictEqual } from "node:util";

import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type YAMLMap } from "yaml";

import { parseDuration } from "../base/durations.ts";
import { createJsonSchema, type JsonSchema } from "./schema/json-schema.ts";

let schema: JsonSchema | null = null;

/**
 * Returns which lines of a rendered configuration (`renderConfig`) have another value than the default, or a key that is in no
 * configuration by itself; 1 is the first line. What has to be there, as a receiver's name, is no difference. An organization is
 * compared with the built-in defaults, too: those of the file are merged into it.
 */
export function differingLines(text: string): ReadonlySet<number> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const { properties } = (schema ??= createJsonSchema()) as {
    readonly properties: Readonly<Record<string, JsonSchema>>;
  };
  const lines = new Set<number>();
  const { receivers = [] } = document.toJS() as { readonly receivers?: readonly { readonly name: string }[] };
  const names = receivers.map(({ name }) => name);

  function look(node: Node | null, within: JsonSchema | null): void {
    if (within === null) return;
    if (isSeq(node))
      for (const item of node.items)
        look(item as Node, variantOf((within["items"] ?? null) as JsonSchema, item as Node));
    if (!isMap<{ readonly value: string; readonly range: readonly number[] }, Node | null>(node)) return;
    const members = (within["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
    const required = (within["required"] ?? []) as readonly string[];
    for (const { key, value } of node.items) {
      const member = members[key.value];
      const isLeaf = isScalar(value) || (isSeq(value) && !value.items.some(isMap));
      if (!isLeaf) look(value, variantOf(member ?? null, value));
      else if (
        !required.includes(key.value) &&
        !isSame(value.toJS(document), defaultOf(key.value, node) ?? member?.["default"])
      )
        lines.add(counter.linePos(key.range[0] ?? 0).line);
    }
  }

  /** The defaults that depend on other keys, as `resolve` fills them in; undefined: the schema has it. */
  function defaultOf(key: string, within: YAMLMap): unknown {
    if (key === "receivers") return names;
    if (key === "sendUnknown") return within.get("minSeverity") === "warn";
    return key === "sendActs" ? within.get("type") === "slack" && within.has("token") : undefined;
  }

  const organizations = { items: { ...properties["defaults"], required: ["slug"] } };
  look(document.contents, { properties: { ...properties, organizations } });
  return lines;
}

/** Nothing is the same as an empty list; of a secret nobody knows. */
function isSame(value: unknown, usual: unknown): boolean {
  if (usual === undefined) return Array.isArray(value) && value.length === 0;
  if (value === "***" || isDeepStrictEqual(value, usual)) return true;
  return typeof value === "string" && typeof usual === "string" && isSameDuration(value, usual);
}

function isSameDuration(value: string, usual: string): boolean {
  const durationMs = parseDuration(value);
  return durationMs !== null && durationMs === parseDuration(usual);
}

/** Returns the one of several schemas that a value was written by: the one whose `type` it has. */
function variantOf(written: JsonSchema | null, node: Node | null): JsonSchema | null {
  const variants = written?.["anyOf"] ?? written?.["oneOf"];
  if (!Array.isArray(variants) || !isMap(node)) return written;
  const type = node.get("type");
  const fits = ({ properties }: JsonSchema): boolean => {
    const constant = (properties as Record<string, JsonSchema> | undefined)?.["type"]?.["const"];
    return properties !== undefined && (constant === undefined || constant === type);
  };
  return (variants as readonly JsonSchema[]).find(fits) ?? null;
}

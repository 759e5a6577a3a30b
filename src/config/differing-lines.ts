import { isDeepStrictEqual } from "node:util";

import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from "yaml";

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
      else if (!required.includes(key.value) && !isDeepStrictEqual(value.toJS(document), member?.["default"]))
        lines.add(counter.linePos(key.range[0] ?? 0).line);
    }
  }

  const organizations = { items: { ...properties["defaults"], required: ["slug"] } };
  look(document.contents, { properties: { ...properties, organizations } });
  return lines;
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

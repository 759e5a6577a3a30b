import { z } from "zod";

import { limitsKeyword } from "../../base/schema/values.ts";
import { rootSchema } from "./schema.ts";

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

const referenceName = "reference";

/**
 * Returns the JSON Schema (2020-12) of the configuration file, for editors. A reference (`${NAME}`, `${file:PATH}`) is
 * allowed in place of each value, because its text is known at run time only.
 */
export function createJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(rootSchema, {
    io: "input",
    // zod drops the default of a value that is transformed.
    override: ({ zodSchema, jsonSchema }) => {
      const { default: written } = z.globalRegistry.get(zodSchema) ?? {};
      if (written !== undefined) jsonSchema.default = written;
    },
  });
  const { $schema, ...root } = completed(schema, true) as JsonSchema;
  return {
    $schema,
    title: "flatline",
    ...root,
    $defs: {
      [referenceName]: { type: "string", pattern: "\\$\\{(?:file:[^{}]+|[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?)\\}" },
    },
  };
}

/** Returns the text of flatline.schema.json. */
export function renderJsonSchema(): string {
  return `${JSON.stringify(createJsonSchema(), null, 2)}\n`;
}

// They inherit from `defaults` or their organization, so that no editor may offer the built-in values.
const inheriting = ["organizations", "healthchecks"];

/** Adds the bounds of a value to its description, and allows references. */
function completed(node: unknown, hasDefaults: boolean): unknown {
  if (Array.isArray(node)) return node.map((one) => completed(one, hasDefaults));
  if (!isNode(node)) return node;
  const { isBuiltIn: _isBuiltIn, [limitsKeyword]: ofDuration, description, default: written, ...own } = node;
  const limits = typeof ofDuration === "string" ? ofDuration : limitsOf(own);
  const said = {
    ...(typeof description === "string" ? { description: `${description} ${limits}`.trim() } : {}),
    // An empty object as the default of a section says nothing.
    ...(hasDefaults && written !== undefined && !isEmptyObject(written) ? { default: written } : {}),
  };
  if (isBound(own)) {
    const { examples, ...bound } = own;
    return {
      ...said,
      ...(examples === undefined ? {} : { examples }),
      anyOf: [bound, { $ref: `#/$defs/${referenceName}` }],
    };
  }
  const rest = Object.entries(own).map(([keyword, value]) => {
    if (keyword !== "properties" || !isNode(value)) return [keyword, completed(value, hasDefaults)];
    const keys = Object.entries(value).map(([key, child]) => [
      key,
      completed(child, hasDefaults && !inheriting.includes(key)),
    ]);
    return [keyword, Object.fromEntries(keys)];
  });
  return { ...said, ...Object.fromEntries(rest) };
}

function limitsOf(node: JsonSchema): string {
  const bound = (keyword: string): number | null => {
    const value = node[keyword];
    // Every whole number has these bounds.
    return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : null;
  };
  const above = bound("exclusiveMinimum");
  const [least, most] = [bound("minimum") ?? bound("minItems"), bound("maximum") ?? bound("maxItems")];
  const unit = node["type"] === "array" ? " items" : "";
  if (above !== null) return most === null ? `Above ${above}.` : `Above ${above}, at most ${most}.`;
  if (least !== null) return most === null ? `At least ${least}${unit}.` : `From ${least} to ${most}${unit}.`;
  return most === null ? "" : `At most ${most}${unit}.`;
}

function isBound({ type, ...node }: JsonSchema): boolean {
  // Editors distinguish the types of receivers by this constant.
  if ("const" in node) return false;
  if (type === "string") return "enum" in node || "pattern" in node || "format" in node;
  return type === "integer" || type === "number" || type === "boolean";
}

function isNode(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmptyObject(value: unknown): boolean {
  return isNode(value) && Object.keys(value).length === 0;
}

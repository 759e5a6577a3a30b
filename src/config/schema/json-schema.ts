import { z } from "zod";

import { limitsKeyword } from "../../base/schema/values.ts";
import { rootSchema } from "./schema.ts";

/** A node of a JSON Schema, as far as it is looked at here. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

const referenceName = "reference";

/**
 * Returns the JSON Schema (2020-12) of the configuration file, with which editors complete and check it. Where a value is bound to a
 * form, a reference (`${NAME}`, `${file:PATH}`) is allowed too: what that turns out to be is known at run time only.
 */
export function createJsonSchema(): JsonSchema {
  const schema = stateLimits(z.toJSONSchema(rootSchema, { io: "input", override: keepDefault }));
  const { $schema, properties, ...root } = allowReferences(schema) as JsonSchema;
  const sections = properties as Readonly<Record<string, JsonSchema>>;
  return {
    $schema,
    title: "flatline",
    ...root,
    // A key that an organization leaves out is as in `defaults`: no editor may offer the built-in value there.
    properties: {
      ...sections,
      defaults: withHealthchecks(sections["defaults"]),
      organizations: withoutDefaults(sections["organizations"]),
    },
    $defs: {
      [referenceName]: { type: "string", pattern: "\\$\\{(?:file:[^{}]+|[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?)\\}" },
    },
  };
}

/** zod drops the default of what is read as something else than it is written; those in metadata are as they are written. */
function keepDefault({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: Record<string, unknown>;
}): void {
  const written = z.globalRegistry.get(zodSchema)?.["default"];
  if (written !== undefined) jsonSchema["default"] = written;
}

/** Returns the text of flatline.schema.json. */
export function renderJsonSchema(): string {
  return `${JSON.stringify(createJsonSchema(), null, 2)}\n`;
}

/** Adds the bounds of a value to its description, so that none can be left out there. */
function stateLimits(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(stateLimits);
  if (!isNode(node)) return node;
  const { [limitsKeyword]: ofDuration, ...own } = node;
  const copy = Object.fromEntries(Object.entries(own).map(([keyword, child]) => [keyword, stateLimits(child)]));
  const limits = typeof ofDuration === "string" ? ofDuration : limitsOf(own);
  const { description } = own;
  return typeof description === "string" && limits !== "" ? { ...copy, description: `${description} ${limits}` } : copy;
}

function limitsOf(node: JsonSchema): string {
  const bound = (keyword: string): number | null => {
    const value = node[keyword];
    // Every whole number has these: the bounds of exact ones.
    return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : null;
  };
  const above = bound("exclusiveMinimum");
  const [least, most] = [bound("minimum") ?? bound("minItems"), bound("maximum") ?? bound("maxItems")];
  const unit = node["type"] === "array" ? " items" : "";
  if (above !== null) return most === null ? `Above ${above}.` : `Above ${above}, at most ${most}.`;
  if (least !== null) return most === null ? `At least ${least}${unit}.` : `From ${least} to ${most}${unit}.`;
  return most === null ? "" : `At most ${most}${unit}.`;
}

const boundTypes = new Set(["integer", "number", "boolean"]);
const annotations = ["description", "default", "examples"];

function allowReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(allowReferences);
  if (!isNode(node)) return node;
  if (isBound(node)) {
    const shown = Object.entries(node).filter(([keyword]) => annotations.includes(keyword));
    const bound = Object.entries(node).filter(([keyword]) => !annotations.includes(keyword));
    return {
      ...Object.fromEntries(shown),
      anyOf: [Object.fromEntries(bound), { $ref: `#/$defs/${referenceName}` }],
    };
  }
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (annotations.includes(keyword)) {
      // These sections are filled in from the defaults of their keys: an empty object as a default tells nothing.
      if (!isEmptyObject(value)) copy[keyword] = value;
    } else if (keyword === "properties" && isNode(value)) {
      copy[keyword] = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, allowReferences(child)]));
    } else {
      copy[keyword] = allowReferences(value);
    }
  }
  return copy;
}

/** A key that a healthcheck's `alert` leaves out is as in its organization. */
function withHealthchecks(node: unknown): unknown {
  if (!isNode(node) || !isNode(node["properties"])) return node;
  const { properties } = node;
  return { ...node, properties: { ...properties, healthchecks: withoutDefaults(properties["healthchecks"]) } };
}

function withoutDefaults(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutDefaults);
  if (!isNode(node)) return node;
  const kept = Object.entries(node).filter(([keyword]) => keyword !== "default");
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, withoutDefaults(value)]));
}

function isBound(node: JsonSchema): boolean {
  // An editor distinguishes the types of receivers by a constant.
  if ("const" in node) return false;
  if (typeof node["type"] !== "string") return false;
  if (boundTypes.has(node["type"])) return true;
  return node["type"] === "string" && ("enum" in node || "pattern" in node || "format" in node);
}

function isNode(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmptyObject(value: unknown): boolean {
  return isNode(value) && Object.keys(value).length === 0;
}

import type { JsonSchema } from "../../src/config/schema/json-schema.ts";

/** A key of the configuration as a line of the reference. */
interface Row {
  readonly key: string;
  readonly type: string;
  readonly defaultText: string;
  readonly description: string;
}

/** The reference of every key, as Markdown, made from the JSON Schema that validation and editors use. */
export function renderReference(schema: JsonSchema): string {
  const section = (key: string): JsonSchema => property(schema, key);
  const organization = variants(items(section("organizations"))).find((variant) => "properties" in variant) ?? {};
  const settings = Object.keys(properties(section("defaults")));
  const ownRows = rowsOf(organization).filter(({ key }) => !settings.includes(firstName(key)));
  return [
    "Each key has its type, its default in brackets, and its meaning.",
    "### Top level",
    list(topLevelRows(schema)),
    "### `source`",
    ...typeTables(variants(section("source"))),
    "### `defaults`",
    list(rowsOf(section("defaults"))),
    "### `organizations`",
    `A list. ${text(items(section("organizations")))} Beside these keys, every key of \`defaults\`.`,
    list(ownRows),
    "### `discover`",
    "A list.",
    list(rowsOf(items(section("discover"))).filter(({ key }) => firstName(key) === key)),
    "### `alerting`",
    list(rowsOf(section("alerting"))),
    "### `receivers`",
    ...typeTables(variants(items(section("receivers")))),
    "### `silences`",
    "A list. Each is fixed (`startsAt`, `endsAt`) or recurring (`schedule`, `duration`, `timezone`), and has at least one of `slug`, `check` and `labels`; all that it has must match.",
    list(rowsOf(items(section("silences")))),
    ...["server", "storage", "heartbeat", "secondOpinion", "log"].flatMap((key) => [
      `### \`${key}\``,
      list(rowsOf(section(key))),
    ]),
  ].join("\n\n");
}

/** Returns a table of the keys that all types share, then each type with its own keys; a repeated key is only named. */
function typeTables(types: readonly JsonSchema[]): string[] {
  const all = types.map((type) => rowsOf(type).filter(({ key }) => key !== "type"));
  const [first = [], ...others] = all;
  const shared = first.filter((row) => others.every((rows) => hasAlike(rows, row)));
  const parts = types.flatMap((type, index) => {
    const kind = property(type, "type");
    const own = (all[index] ?? []).filter((row) => !hasAlike(shared, row));
    const twin = all.slice(0, index).findIndex((rows) => own.some((row) => hasAlike(rows, row)));
    const known = own.filter((row) => hasAlike(all[twin] ?? [], row));
    const fresh = own.filter((row) => !known.includes(row));
    const as = known.length === 0 ? "" : ` As with \`${nameOf(types[twin])}\`: ${namesOf(known)}.`;
    const none = own.length === 0 ? " No more keys." : "";
    const head = `\`type: ${nameOf(type)}\`${"default" in kind ? ", the default" : ""}: ${text(kind)}${as}${none}`;
    return fresh.length === 0 ? [head] : [head, list(fresh)];
  });
  return shared.length === 0 ? parts : ["Keys of every type:", list(shared), ...parts];
}

function nameOf(type: JsonSchema | undefined): string {
  return String(property(type ?? {}, "type")["const"]);
}

/** Without the keys below others: they come with them. */
function namesOf(rows: readonly Row[]): string {
  return rows
    .filter(({ key }) => firstName(key) === key)
    .map(({ key }) => `\`${key}\``)
    .join(", ");
}

function hasAlike(rows: readonly Row[], row: Row): boolean {
  return rows.some((other) => isAlike(row, other));
}

function isAlike(one: Row, other: Row): boolean {
  return one.key === other.key && one.defaultText === other.defaultText && one.description === other.description;
}

/** Returns the key of the section in which `match.slug` or `tokens[].name` stands. */
function firstName(key: string): string {
  return key.split(/[.[]/)[0] ?? "";
}

function topLevelRows(schema: JsonSchema): Row[] {
  return Object.entries(properties(schema)).map(([key, node]) => {
    const [row] = rowsOf({ properties: { [key]: { ...node, properties: undefined } }, required: schema["required"] });
    const isSection = "properties" in node || "oneOf" in node || isObject(node["items"]) || key === "organizations";
    const link = isSection ? `[\`${key}\`](#${key.toLowerCase()})` : `\`${key}\``;
    return { ...(row ?? emptyRow), key: link };
  });
}

const emptyRow: Row = { key: "", type: "", defaultText: "", description: "" };

/** The keys of an object and those below them; what is said already of a key of that name is not said again. */
function rowsOf(node: JsonSchema): Row[] {
  const seen = new Set<string>();
  return allRowsOf(node).filter(({ key, description }) => {
    const said = `${key.split(".").at(-1) ?? ""}: ${description}`;
    if (key.includes(".") && seen.has(said)) return false;
    seen.add(said);
    return true;
  });
}

function allRowsOf(node: JsonSchema, prefix = ""): Row[] {
  const required = Array.isArray(node["required"]) ? (node["required"] as unknown[]) : [];
  const own = properties(node);
  return Object.entries(own).flatMap(([name, child]) => {
    const key = `${prefix}${name}`;
    // The keys of a list's objects stand below it, as `tokens[].name`.
    const nested = [
      ...[child, ...variants(child)].flatMap((variant) => allRowsOf(variant, `${key}.`)),
      ...[items(child), ...variants(items(child))].flatMap((variant) => allRowsOf(variant, `${key}[].`)),
    ];
    const row: Row = {
      key,
      type: typeOf(child),
      defaultText: "default" in child ? ` [\`${defaultOf(child)}\`]` : required.includes(name) ? ", required" : "",
      description: text(child),
    };
    return [row, ...nested];
  });
}

function defaultOf(node: JsonSchema): string {
  const value = node["default"];
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}

function typeOf(node: JsonSchema): string {
  const choices = variants(node).filter((variant) => !("$ref" in variant));
  if (choices.length > 0) return [...new Set(choices.map(typeOf))].join(" or ");
  if ("const" in node) return `\`${String(node["const"])}\``;
  if (Array.isArray(node["enum"])) return node["enum"].map((choice) => `\`${String(choice)}\``).join(" or ");
  if (node["type"] === "array") return `list of ${plural(typeOf(items(node)))}`;
  if (node["type"] === "integer") return "whole number";
  if (node["type"] === "object")
    return "properties" in node || !("additionalProperties" in node) ? "object" : "names and texts";
  if (node["type"] === "string") return stringType(node);
  return typeof node["type"] === "string" ? node["type"] : "object";
}

function stringType(node: JsonSchema): string {
  const pattern = typeof node["pattern"] === "string" ? node["pattern"] : "";
  if (pattern.includes("ms)?")) return pattern.includes("auto|") ? "`auto` or duration" : "duration";
  if (node["format"] === "date-time") return "time";
  return node["format"] === "uri" ? "URL" : "string";
}

function plural(type: string): string {
  return type
    .split(" or ")
    .map((one) => (one === "object" || one === "string" ? `${one}s` : one))
    .join(" or ");
}

/** One line a key: its type, its default in brackets, its meaning. */
function list(rows: readonly Row[]): string {
  return rows
    .map(({ key, type, defaultText, description }) => {
      const name = key.startsWith("[") ? key : `\`${key}\``;
      return `- ${name}: ${type}${defaultText}. ${description}`;
    })
    .join("\n");
}

function properties(node: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return isObject(node["properties"]) ? (node["properties"] as Record<string, JsonSchema>) : {};
}

function property(node: JsonSchema, key: string): JsonSchema {
  return properties(node)[key] ?? {};
}

function items(node: JsonSchema): JsonSchema {
  return isObject(node["items"]) ? node["items"] : {};
}

function variants(node: JsonSchema): readonly JsonSchema[] {
  const found = node["anyOf"] ?? node["oneOf"];
  return Array.isArray(found) ? (found as JsonSchema[]) : [];
}

function text(node: JsonSchema): string {
  return typeof node["description"] === "string" ? node["description"] : "";
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

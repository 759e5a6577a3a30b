import { excerpt } from "../../../base/cut-text.ts";
import { hasControlCharacter } from "./fields.ts";

// Attributes describe an event beyond its fields, for example the checker or the reason of a failure. Many events share the
// same values; the store keeps each distinct set once. The limits are ours.

/** Maximum number of attributes of an event. */
export const mostAttributes = 16;
const longestName = 64;
/** Maximum length of a value. */
const longestValue = 256;
const isShort = new RegExp(`^[^]{0,${longestValue}}$`, "u");
/** Maximum length of a value in UTF-8 bytes. */
export const longestValueBytes = 4 * longestValue;

/** Returns the problem of an attribute's name; null if it is valid. */
export function attributeNameProblem(name: string): string | null {
  if (/^[a-z][a-z0-9_]*$/.test(name) && name.length <= longestName) return null;
  return `attribute ${excerpt(name)} is not a lower-case name of 1 to ${longestName} letters, digits and underscores`;
}

// A set of attributes has one text as its key: a line per name, in order, with its value. Values have no line breaks.

/** Returns the key of a set of attributes; entries in the order of their names. */
export function attributesKey(entries: Iterable<readonly [string, string]>): string {
  let key = "";
  for (const [name, value] of entries) key += `${name}\n${value}\n`;
  return key;
}

/** Returns the problem of a set of attributes; null if it is valid. Names are checked by the parsers. */
export function attributesProblem(key: string): string | null {
  const entries = entriesOf(key);
  if (entries.length > mostAttributes) return `has more than ${mostAttributes} attributes`;
  for (const [name, value] of entries) {
    if (!isShort.test(value)) return `attribute ${name} is longer than ${longestValue} characters`;
    if (hasControlCharacter(value)) return `attribute ${name} has a control character`;
  }
  return null;
}

/** Returns the JSON object that the store keeps for a key, names in order. */
export function attributesJson(key: string): string {
  return JSON.stringify(Object.fromEntries(entriesOf(key)));
}

/** Returns the JSON that the store keeps for an event's attributes; null without any. */
export function storedAttributes(attributes: Readonly<Record<string, string>> | undefined): string | null {
  const entries = Object.entries(attributes ?? {}).toSorted(byName);
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries));
}

/** Compares by code units, independent of the locale. */
export function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function entriesOf(key: string): [string, string][] {
  const lines = key.split("\n");
  const entries: [string, string][] = [];
  for (let line = 0; line + 1 < lines.length; line += 2) entries.push([lines[line] ?? "", lines[line + 1] ?? ""]);
  return entries;
}

import { excerpt, hasControlCharacter } from "./fields.ts";

// What an event says of itself beyond its fields: who checked, why it failed, from where. Values that many events share; the
// store keeps each different set once. Bounds of ours: far above what a checker has to say of one death.

/** Attributes of one event. */
export const mostAttributes = 16;
const longestName = 64;
/** Characters of one value. */
const longestValue = 256;
const isShort = new RegExp(`^[^]{0,${longestValue}}$`, "u");
/** UTF-8 of the longest value. */
export const longestValueBytes = 4 * longestValue;

/** What is wrong with the name of an attribute; null when nothing is. */
export function attributeNameProblem(name: string): string | null {
  if (/^[a-z][a-z0-9_]*$/.test(name) && name.length <= longestName) return null;
  return `attribute ${excerpt(name)} is not a lower-case name of 1 to ${longestName} letters, digits and underscores`;
}

// A set of attributes is looked up by one text: names in order, each with its value, a line each. Values have no line breaks.

/** The text by which attributes are looked up; entries in the order of their names. */
export function attributesKey(entries: Iterable<readonly [string, string]>): string {
  let key = "";
  for (const [name, value] of entries) key += `${name}\n${value}\n`;
  return key;
}

/** What is wrong with the attributes of a key; null when nothing is. Names are checked where they are read. */
export function attributesProblem(key: string): string | null {
  const entries = entriesOf(key);
  if (entries.length > mostAttributes) return `has more than ${mostAttributes} attributes`;
  for (const [name, value] of entries) {
    if (!isShort.test(value)) return `attribute ${name} is longer than ${longestValue} characters`;
    if (hasControlCharacter(value)) return `attribute ${name} has a control character`;
  }
  return null;
}

/** The attributes of a key as the JSON object that the store keeps, names in order. */
export function attributesJson(key: string): string {
  return JSON.stringify(Object.fromEntries(entriesOf(key)));
}

/** The JSON that the store keeps of an event's attributes; null without any. */
export function storedAttributes(attributes: Readonly<Record<string, string>> | undefined): string | null {
  const entries = Object.entries(attributes ?? {}).toSorted(byName);
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries));
}

/** By code units, the same on every machine. */
export function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function entriesOf(key: string): [string, string][] {
  const lines = key.split("\n");
  const entries: [string, string][] = [];
  for (let line = 0; line + 1 < lines.length; line += 2) entries.push([lines[line] ?? "", lines[line + 1] ?? ""]);
  return entries;
}

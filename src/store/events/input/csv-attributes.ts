import { attributeNameProblem, byName, longestValueBytes } from "./attributes.ts";
import { excerpt } from "../../../base/cut-text.ts";
import { FieldProblem, type NameTable } from "./fields.ts";

const lineFeed = 0x0a;
const columnPrefix = "attr.";

/** Returns whether a column is an attribute: `attr.reason`. */
export function isAttributeColumn(name: string): boolean {
  return name.startsWith(columnPrefix);
}

/** The attribute columns of a file; an empty cell is an absent attribute. */
export class AttributeColumns {
  readonly #table: NameTable;
  /** Sorted by name, each with the text before its value in the key of a set. */
  readonly #columns: { readonly name: string; readonly prefix: Buffer; readonly field: number }[] = [];
  #key: Buffer = Buffer.alloc(0);

  /** `table` keeps the sets. */
  constructor(table: NameTable) {
    this.#table = table;
  }

  get isEmpty(): boolean {
    return this.#columns.length === 0;
  }

  /** Adds a column; returns its problem, or null. */
  add(column: string, field: number): string | null {
    const name = column.slice(columnPrefix.length);
    const problem = attributeNameProblem(name);
    if (problem !== null) return `column ${excerpt(column)}: ${problem}`;
    if (this.#columns.some((known) => known.name === name)) return `column ${column} is there twice`;
    this.#columns.push({ name, prefix: Buffer.from(`${name}\n`), field });
    this.#columns.sort((left, right) => byName([left.name, 0], [right.name, 0]));
    this.#key = Buffer.alloc(this.#columns.reduce((sum, { prefix }) => sum + prefix.length + longestValueBytes + 1, 0));
    return null;
  }

  /** Returns the index of a record's attributes, -1 without any, or their problem. */
  read(bytes: Buffer, starts: Int32Array, ends: Int32Array): number | string {
    const key = this.#key;
    let length = 0;
    for (const { name, prefix, field } of this.#columns) {
      const start = starts[field] ?? 0;
      const end = ends[field] ?? 0;
      if (start === end) continue;
      if (end - start > longestValueBytes)
        return `attribute ${name} is longer than ${longestValueBytes / 4} characters`;
      length += prefix.copy(key, length);
      const valueStart = length;
      length += bytes.copy(key, length, start, end);
      // A line break would split the key in the wrong place.
      if (key.subarray(valueStart, length).includes(lineFeed)) return `attribute ${name} has a control character`;
      key[length++] = lineFeed;
    }
    if (length === 0) return -1;
    const index = this.#table.indexOf(key, 0, length);
    return index instanceof FieldProblem ? index.reason : index;
  }
}

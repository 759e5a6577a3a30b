import { attributeNameProblem, byName, longestValueBytes } from "./attributes.ts";
import { excerpt, FieldProblem, type NameTable } from "./fields.ts";

const lineFeed = 0x0a;
const columnPrefix = "attr.";

/** Whether the name of a column says that it has an attribute: `attr.reason`. */
export function isAttributeColumn(name: string): boolean {
  return name.startsWith(columnPrefix);
}

/** The columns of a file's attributes; an empty cell is an absent attribute. */
export class AttributeColumns {
  readonly #table: NameTable;
  /** In the order of their names, each with what comes before its value in the key of a set. */
  readonly #columns: { readonly name: string; readonly prefix: Buffer; readonly field: number }[] = [];
  #key: Buffer = Buffer.alloc(0);

  /** `table` holds the sets. */
  constructor(table: NameTable) {
    this.#table = table;
  }

  get isEmpty(): boolean {
    return this.#columns.length === 0;
  }

  /** Takes a column; answers what is wrong with it, null when nothing is. */
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

  /** Index of a record's attributes, -1 without any; or what is wrong with them. */
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
      // A line break would part the key at the wrong place.
      if (key.subarray(valueStart, length).includes(lineFeed)) return `attribute ${name} has a control character`;
      key[length++] = lineFeed;
    }
    if (length === 0) return -1;
    const index = this.#table.indexOf(key, 0, length);
    return index instanceof FieldProblem ? index.reason : index;
  }
}

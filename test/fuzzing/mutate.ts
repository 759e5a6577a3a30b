import * as fc from "fast-check";

import { changeAt, nodeAt, scalar, sizeOf, textOf, type Entry, type Tree } from "./tree.ts";

// What a seed decides: which sample, which edits, where. fast-check draws, and when something is found leaves edits out and
// makes them smaller for as long as it is still found.

const numbers = [
  "0",
  "-0",
  "-1",
  "1.5",
  "1e3",
  "1E400",
  "-1e999",
  "9007199254740993",
  "1e21",
  "0.1e-400",
  "2147483648",
  "01",
  "0x10",
  "NaN",
  "-Infinity",
  ".inf",
  "9".repeat(400),
];
const words = [
  "null",
  "true",
  "yes",
  "~",
  "undefined",
  "[]",
  "{}",
  "''",
  "!!binary aGk=",
  "&a [*a]",
  "${HOME}",
  "*a",
  "",
];
const texts = [
  "",
  " ",
  "0",
  "24",
  "true",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "${FLATLINE_NONE}",
  "$",
  "\u0000",
  "\u200b",
  "\u202egnp.exe",
  "\ufeff",
  "\ud800",
  "e\u0301",
  "İ",
  "ß",
  "👩‍👩‍👧",
  "a\nb",
  "a\r\nset-cookie: x=1",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "'; drop table audit; --",
  "%00%ff",
  "=cmd|' /C calc'!A0",
  "*",
  "a*".repeat(60),
  "(a+)+$",
  "{{ x }}{% raw %}",
  "https://user:pass@[::1]:99999/",
  "file:///etc/passwd",
  "x".repeat(255),
  "x".repeat(257),
  "x".repeat(100_000),
  "é".repeat(5_000),
];
const dates = [
  "2026-02-30T00:00:00.000Z",
  "2026-13-01T00:00:00Z",
  "2026-11-01T24:00:00.000Z",
  "2026-11-01T10:00:60Z",
  "2026-11-01T10:00:00.000+14:60",
  "2026-11-01",
  "1969-12-31T23:59:59.999Z",
  "0000-01-01T00:00:00.000Z",
  "9999-12-31T23:59:59.999-23:59",
  "+010000-01-01T00:00:00.000Z",
  "2026-W45-1",
  "20261101T100000Z",
  "-1",
  "253402300800000",
  "1e15",
  "２０２６-11-01T10:00:00Z",
];
const durations = ["-1s", "0s", "1e9d", "99999999999999999999d", "1d1d", "5 m", "1.5h", "1y"];
const keys = [
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "",
  " slug",
  "slug\u0000",
  "a.b",
  "0",
  "<<",
  "x".repeat(5_000),
];
const depths = [2, 60, 1_000, 10_000];

const value: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...numbers),
  fc.constantFrom(...words),
  fc.constantFrom(...texts, ...dates, ...durations).map((text) => JSON.stringify(text)),
  fc.string({ unit: "binary", maxLength: 40 }).map((text) => JSON.stringify(text)),
  fc.double().map(String),
  fc
    .constantFrom(...depths)
    .chain((depth) =>
      fc.constantFrom("[".repeat(depth) + "]".repeat(depth), '{"a": '.repeat(depth) + "1" + "}".repeat(depth)),
    ),
  fc.json({ maxDepth: 3 }),
);

/** One change of a tree; `at` and `from` are numbers of nodes, counted on from the last one at the first. */
const treeEdit = fc.record({
  at: fc.nat(),
  change: fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("replace" as const), text: value }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("copy" as const), from: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("drop" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("repeat" as const), times: fc.constantFrom(2, 2, 3, 500) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("retype" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("wrap" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("respell" as const), isUpper: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const), key: fc.constantFrom(...keys) }) },
  ),
});

type TreeEdit = typeof treeEdit extends fc.Arbitrary<infer Edit> ? Edit : never;

/** Mostly one: the more of them, the sooner the first one hides what the others would show. */
function few<Edit>(edit: fc.Arbitrary<Edit>): fc.Arbitrary<Edit[]> {
  const several = { weight: 1, arbitrary: fc.array(edit, { minLength: 2, maxLength: 3 }) };
  return fc.oneof({ weight: 2, arbitrary: fc.array(edit, { minLength: 1, maxLength: 1 }) }, several);
}

/** One of the samples with one to three changes. */
export function mutatedTree(samples: readonly Tree[]): fc.Arbitrary<Tree> {
  return fc.tuple(fc.constantFrom(...samples), few(treeEdit)).map(([sample, edits]) => edits.reduce(editTree, sample));
}

function editTree(tree: Tree, { at, change }: TreeEdit): Tree {
  const size = sizeOf(tree);
  const copied = change.kind === "copy" ? nodeAt(tree, change.from % size) : tree;
  return changeAt(tree, at % size, (entry): readonly Entry[] => {
    switch (change.kind) {
      case "replace":
        return [{ ...entry, value: scalar(change.text) }];
      case "copy":
        return [{ ...entry, value: copied }];
      case "drop":
        return [];
      case "repeat":
        return Array.from({ length: change.times }, () => entry);
      case "retype":
        return [{ ...entry, value: retyped(entry.value) }];
      case "wrap":
        return [{ ...entry, value: { kind: "list", items: [entry.value] } }];
      case "respell":
        return [{ ...entry, key: change.isUpper ? entry.key.toUpperCase() : entry.key.toLowerCase() }];
      case "rename":
        return [{ ...entry, key: change.key }];
      default:
        return change satisfies never;
    }
  });
}

/** A number as a text, a text without its quotes, a list as an object, and the other way round. */
function retyped(tree: Tree): Tree {
  switch (tree.kind) {
    case "scalar":
      return scalar(/^".*"$/s.test(tree.text) ? tree.text.slice(1, -1) : JSON.stringify(tree.text));
    case "list":
      return { kind: "object", entries: tree.items.map((item, index) => ({ key: String(index), value: item })) };
    case "object":
      return { kind: "list", items: tree.entries.map(({ value: item }) => item) };
    default:
      return tree satisfies never;
  }
}

const inserted: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .constantFrom(
      "\ufeff",
      "\r\n",
      "\r",
      "\n\n",
      "\0",
      "\t",
      '"',
      '""',
      ",",
      "'",
      "#",
      ":",
      "---\n",
      "\u2028",
      "\u202e",
      "\u007f",
      "%",
      "&",
      "=",
      "\u0085",
      " ".repeat(70_000),
      "x".repeat(200_000),
    )
    .map((text) => Buffer.from(text)),
  // Invalid UTF-8: a lone continuation, an overlong form, a surrogate, a cut sequence; the magic number of gzip.
  fc.constantFrom("80", "c0af", "eda080", "f09f91", "ff", "fe", "1f8b08").map((hex) => Buffer.from(hex, "hex")),
  fc.constantFrom(...texts, ...dates, ...numbers).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
);

/** One change of bytes: so many from `at` on are replaced. */
const byteEdit = fc.record({
  at: fc.nat(),
  length: fc.oneof(fc.nat({ max: 4 }), fc.nat({ max: 200 })),
  change: fc.oneof(
    fc.record({ kind: fc.constant("insert" as const), bytes: inserted }),
    fc.record({ kind: fc.constant("cut" as const) }),
    fc.record({ kind: fc.constant("repeat" as const), times: fc.constantFrom(2, 3, 50) }),
    fc.record({ kind: fc.constant("copy" as const), from: fc.nat() }),
    fc.record({ kind: fc.constant("flip" as const), bit: fc.nat({ max: 7 }) }),
    fc.record({ kind: fc.constant("end" as const) }),
  ),
});

type ByteEdit = typeof byteEdit extends fc.Arbitrary<infer Edit> ? Edit : never;

/** One of the samples with one to three changes of its bytes. */
export function mutatedBytes(samples: readonly (string | Buffer)[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...samples), few(byteEdit))
    .map(([sample, edits]) => edits.reduce(editBytes, Buffer.from(sample)));
}

/** Texts whose structure was changed, whose bytes were, or both. */
export function mutatedText(
  samples: readonly Tree[],
  raw: readonly (string | Buffer)[] = samples.map(textOf),
): fc.Arbitrary<Buffer> {
  return fc.oneof(
    { weight: 3, arbitrary: mutatedTree(samples).map((tree) => Buffer.from(textOf(tree))) },
    { weight: 2, arbitrary: mutatedBytes(raw) },
  );
}

function editBytes(bytes: Buffer, { at, length, change }: ByteEdit): Buffer {
  const start = bytes.length === 0 ? 0 : at % (bytes.length + 1);
  const end = Math.min(bytes.length, start + length);
  const [before, part, after] = [bytes.subarray(0, start), bytes.subarray(start, end), bytes.subarray(end)];
  switch (change.kind) {
    case "insert":
      return Buffer.concat([before, change.bytes, after]);
    case "cut":
      return Buffer.concat([before, after]);
    case "repeat":
      return Buffer.concat([before, ...Array.from({ length: change.times }, () => part), after]);
    case "copy": {
      const from = bytes.length === 0 ? 0 : change.from % bytes.length;
      return Buffer.concat([before, bytes.subarray(from, from + length), after]);
    }
    case "flip":
      return Buffer.concat([before, part.map((byte) => byte ^ (1 << change.bit)), after]);
    case "end":
      return Buffer.from(before);
    default:
      return change satisfies never;
  }
}

import fc from "fast-check";

const oddTexts = [
  "",
  " ",
  "24",
  "null",
  "__proto__",
  "constructor",
  "${FLATLINE_NONE}",
  "$",
  "\u0000",
  "\u202egnp.exe",
  "\ufeff",
  "\ud800",
  "e\u0301",
  "a\r\nset-cookie: x=1",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "'; drop table audit; --",
  "%00%ff",
  "*",
  "{{ x }}{% raw %}",
  "https://user:pass@[::1]:99999/",
  "2026-02-30T00:00:00.000Z",
  "9999-12-31T23:59:59.999-23:59",
  "99999999999999999999d",
  "-1s",
  "x".repeat(257),
  "é".repeat(5_000),
];

/** Values that a valid input does not have, as they come from outside. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...oddTexts, 0, -0, -1, 1.5, 1e21, 2 ** 53, Number.MAX_VALUE, true, null, [], {}),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
);

const change = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom("replace", "replace", "replace", "drop", "wrap", "rename", "repeat" as const),
  value: oddValue,
  key: fc.constantFrom("__proto__", "constructor", "", " slug", "a.b", "0", "x".repeat(500)),
});

type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

/** One of the samples, plain JSON, with a change or two somewhere in it; `tree` in place of its text. */
export function oddJson(samples: readonly unknown[]): fc.Arbitrary<unknown> {
  const changes = fc.array(change, { minLength: 1, maxLength: 2 });
  return fc
    .tuple(fc.constantFrom(...samples), changes)
    .map(([sample, some]) => some.reduce((tree, one) => changed(tree, one), structuredClone(sample)));
}

/** Somewhere in the tree, the root included, the change is made. */
function changed(tree: unknown, { at, kind, value, key }: Change): unknown {
  const holder = { root: tree };
  const places = placesIn(holder);
  const place = places[at % places.length];
  if (place === undefined) return value;
  const { parent, name } = place;
  if (kind === "replace") parent[name] = value;
  else if (kind === "wrap") parent[name] = [parent[name]];
  else if (kind === "drop" && Array.isArray(parent)) parent.splice(Number(name), 1);
  else if (kind === "drop" && parent !== holder) delete parent[name];
  else if (kind === "repeat" && Array.isArray(parent))
    parent.push(...Array.from({ length: 300 }, () => parent[Number(name)]));
  else if (kind === "rename")
    Object.defineProperty(parent, key, { value: parent[name], enumerable: true, configurable: true, writable: true });
  return holder.root;
}

interface Place {
  readonly parent: Record<string, unknown>;
  readonly name: string;
}

function placesIn(parent: object): Place[] {
  const all = parent as Record<string, unknown>;
  return Object.keys(all).flatMap((name) => {
    const below = all[name];
    return [{ parent: all, name }, ...(typeof below === "object" && below !== null ? placesIn(below) : [])];
  });
}

/** One of the texts with some characters cut, repeated, or put between the others. */
export function oddText(samples: readonly string[]): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 40 }),
    inserted: fc.oneof(
      fc.constantFrom("", "\n", "\r\n", ...`\t"',:#%&=\0\u2028`.split(""), " ".repeat(5_000)),
      fc.constantFrom(...oddTexts),
    ),
  });
  return fc.tuple(fc.constantFrom(...samples), fc.array(edit, { minLength: 1, maxLength: 3 })).map(([sample, edits]) =>
    edits.reduce((text, { at, length, inserted }) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + inserted + text.slice(start + length);
    }, sample),
  );
}

const inside = [
  /\n\s+at [^\n]+:\d+:\d+/,
  /node_modules/,
  /\/src\/[a-z-]+\/[^\s"]+\.ts\b/,
  /\b(?:TypeError|RangeError|ReferenceError|SqliteError|ZodError|AssertionError)\b/,
  /\bSQLITE_[A-Z]+/,
  /Maximum call stack|\[object Object\]|Cannot read propert/,
];

/** Returns what a message shows of the inside of the program: a stack, a path, an error's class. */
export function insideOf(text: string): readonly string[] {
  return inside.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
}

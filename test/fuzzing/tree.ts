/**
 * JSON as it is written: scalars keep their text, and objects their entries in order. It can say what a parsed value cannot:
 * a key that is there twice, `__proto__`, a number of a thousand digits, a text that is no JSON at all.
 */
export type Tree =
  | { readonly kind: "object"; readonly entries: readonly Entry[] }
  | { readonly kind: "list"; readonly items: readonly Tree[] }
  | { readonly kind: "scalar"; readonly text: string };

export interface Entry {
  readonly key: string;
  readonly value: Tree;
}

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: "list", items: value.map(treeOf) };
  if (value instanceof Date) return scalar(JSON.stringify(value.toISOString()));
  if (typeof value === "object" && value !== null)
    return { kind: "object", entries: Object.entries(value).map(([key, item]) => ({ key, value: treeOf(item) })) };
  return scalar(JSON.stringify(value) ?? "null");
}

export function scalar(text: string): Tree {
  return { kind: "scalar", text };
}

/** The text of a tree, on one line. */
export function textOf(tree: Tree): string {
  switch (tree.kind) {
    case "scalar":
      return tree.text;
    case "list":
      return `[${tree.items.map(textOf).join(",")}]`;
    case "object":
      // A space after the colon: it is YAML, too.
      return `{${tree.entries.map(({ key, value }) => `${JSON.stringify(key)}: ${textOf(value)}`).join(",")}}`;
    default:
      return tree satisfies never;
  }
}

/** How many nodes it has, itself included. */
export function sizeOf(tree: Tree): number {
  return childrenOf(tree).reduce((size, child) => size + sizeOf(child), 1);
}

/** The node of this number, in the order in which they are written. */
export function nodeAt(tree: Tree, number: number): Tree {
  if (number === 0) return tree;
  let next = number - 1;
  for (const child of childrenOf(tree)) {
    const size = sizeOf(child);
    if (next < size) return nodeAt(child, next);
    next -= size;
  }
  return tree;
}

/** The tree with what `change` makes of the node of this number; an item or entry of several takes its place. */
export function changeAt(tree: Tree, number: number, change: (entry: Entry) => readonly Entry[]): Tree {
  if (number === 0) return change({ key: "", value: tree })[0]?.value ?? scalar("null");
  let next = number - 1;
  const changed = (entry: Entry): readonly Entry[] => {
    const size = sizeOf(entry.value);
    const own = next;
    next -= size;
    if (own < 0 || own >= size) return [entry];
    return own === 0 ? change(entry) : [{ ...entry, value: changeAt(entry.value, own, change) }];
  };
  switch (tree.kind) {
    case "scalar":
      return tree;
    case "list":
      return { ...tree, items: tree.items.flatMap((value) => changed({ key: "", value })).map(({ value }) => value) };
    case "object":
      return { ...tree, entries: tree.entries.flatMap(changed) };
    default:
      return tree satisfies never;
  }
}

function childrenOf(tree: Tree): readonly Tree[] {
  if (tree.kind === "list") return tree.items;
  return tree.kind === "object" ? tree.entries.map(({ value }) => value) : [];
}

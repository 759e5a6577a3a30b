import { describe, expect, it } from "vitest";

import { uncalledStoreMethods, unusedExports } from "./dead-code.ts";
import { readSourceFiles, sourceFile } from "./source-files.ts";

const source = readSourceFiles("src").filter(({ path }) => !path.endsWith(".test.ts"));
// Widen it room by room; it is all of src in the end.
const rooms = /^src\/(?:cli|client|config\/document|service|sources|spike|store\/(?:engine|platform|runs))\//;

describe("src", () => {
  it("uses every export", () => {
    expect(unusedExports(source).filter((name) => rooms.test(name))).toEqual([]);
  });

  it("calls every method of the store", () => {
    expect(uncalledStoreMethods(source).filter((name) => rooms.test(name))).toEqual([]);
  });
});

describe("dead code", () => {
  it("is an export that is mentioned once", () => {
    const used = sourceFile("src/a.ts", "export const used = 1;\nexport const unused = 2;\n// unused");
    const user = sourceFile("src/b.ts", 'import { used } from "./a.ts";');

    expect(unusedExports([used, user])).toEqual(["src/a.ts: unused"]);
  });

  it("is a method of the store that no code reads", () => {
    const store = sourceFile(
      "src/store/a.ts",
      "export interface AStore {\n  add(one: string): Promise<void>;\n  drop(): Promise<void>;\n  readonly size: () => number;\n}",
    );
    const caller = sourceFile("src/b.ts", "const { size } = store;\nstore.add(one);");

    expect(uncalledStoreMethods([store, caller])).toEqual(["src/store/a.ts: AStore.drop"]);
  });
});

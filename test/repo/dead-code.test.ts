import { describe, expect, it } from "vitest";

import { uncalledStoreMethods, unusedExports } from "./dead-code.ts";
import { readSourceFiles, sourceFile } from "./source-files.ts";

const source = readSourceFiles("src").filter(({ path }) => !path.endsWith(".test.ts"));

describe("src", () => {
  it("uses every export", () => {
    expect(unusedExports(source)).toEqual([]);
  });

  it("calls every method of the store", () => {
    expect(uncalledStoreMethods(source)).toEqual([]);
  });
});

describe("dead code", () => {
  it("is an export that no file imports and its own does not use, whatever has the same name elsewhere", () => {
    const used = sourceFile(
      "src/a.ts",
      "export const used = 1;\nexport const own = 1;\nexport const unused = own;\n// unused",
    );
    const late = sourceFile("src/late.ts", "export const late = 1;");
    const user = sourceFile("src/b.ts", 'import { used } from "./a.ts";\nconst unused = await import("./late.ts");');

    expect(unusedExports([used, late, user])).toEqual(["src/a.ts: unused"]);
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

import { describe, expect, it } from "vitest";

import { memoized } from "./memo.ts";

function countedMemo(keep: number) {
  let calls = 0;
  const ask = memoized(keep, (key: string) => {
    calls++;
    return key === "nothing" ? null : { key };
  });
  return { ask, calls: () => calls };
}

describe("memoized", () => {
  it("computes once for each key and gives the same answer again", () => {
    const { ask, calls } = countedMemo(10);

    const first = ask("a");

    expect(ask("a")).toBe(first);
    expect(ask("b")).toEqual({ key: "b" });
    expect(calls()).toBe(2);
  });

  it("keeps no more answers than it may, and still answers", () => {
    const { ask, calls } = countedMemo(2);

    for (const key of ["a", "b", "c"]) ask(key);

    expect(ask("c")).toEqual({ key: "c" });
    expect(calls()).toBe(3);
    expect(ask("a")).toEqual({ key: "a" });
    expect(calls()).toBe(4);
  });
});

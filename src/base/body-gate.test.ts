import { describe, expect, it } from "vitest";

import { createBodyGate } from "./body-gate.ts";

function openGate(places: number) {
  const said: string[] = [];
  const gate = createBodyGate({
    freeBytes: 10,
    places,
    onEnter: () => said.push("enter"),
    onEmpty: () => said.push("empty"),
  });
  return { said, enter: (name: string) => gate.enter(() => said.push(name)) };
}

describe("createBodyGate", () => {
  it("lets so many in at once, and the next in order when one leaves", () => {
    const { said, enter } = openGate(2);
    const [leaveA, leaveB] = [enter("a"), enter("b")];
    const [leaveC, leaveD] = [enter("c"), enter("d")];
    expect(said).toEqual(["enter", "a", "enter", "b"]);

    leaveB();
    expect(said.slice(4)).toEqual(["enter", "c"]);
    for (const leave of [leaveA, leaveC, leaveD]) leave();
    expect(said.slice(6)).toEqual(["enter", "d", "empty"]);
  });

  it("forgets who leaves while it waits", () => {
    const { said, enter } = openGate(1);
    const leaveA = enter("a");
    enter("b")();
    const leaveC = enter("c");

    leaveA();
    leaveC();

    expect(said).toEqual(["enter", "a", "enter", "c", "empty"]);
  });
});

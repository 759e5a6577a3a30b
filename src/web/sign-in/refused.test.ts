import { expect, it } from "vitest";

import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { minuteMs } from "../../base/time.ts";
import { createRefusedSignIns } from "./routes.ts";

it("lets an address try again when the oldest of ten refusals is a minute ago", async () => {
  const clock = createVirtualClock({ startMs: 0 });
  const refused = createRefusedSignIns(clock);
  refused.note("a");
  await clock.advance(minuteMs / 2);
  for (let count = 0; count < 9; count++) refused.note("a");
  refused.note("b");

  expect(refused.isOver("a")).toBe(true);
  expect(refused.isOver("b")).toBe(false);
  await clock.advance(minuteMs / 2 - 1);
  expect(refused.isOver("a")).toBe(true);
  await clock.advance(1);
  expect(refused.isOver("a")).toBe(false);
  refused.note("a");
  expect(refused.isOver("a")).toBe(true);
});

it("remembers the last ten thousand addresses", () => {
  const refused = createRefusedSignIns(createVirtualClock({ startMs: 0 }));
  for (let count = 0; count < 10; count++) for (const address of ["old", "kept"]) refused.note(address);

  for (let index = 0; index < 9_999; index++) refused.note(`address ${index}`);

  expect(refused.isOver("old")).toBe(false);
  expect(refused.isOver("kept")).toBe(true);
});

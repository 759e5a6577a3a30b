import { expect, it } from "vitest";

import { verdictChoicesOf } from "./dialogs.ts";

it("speaks of the flow, not of deaths, where events did not come", () => {
  expect(verdictChoicesOf("no-events").checker[1]).toBe("It did not look, or its events did not come.");
  expect(verdictChoicesOf("deaths").checker[1]).toBe("These assets are alive.");
});

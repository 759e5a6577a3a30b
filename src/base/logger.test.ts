import { expect, it } from "vitest";

import { FlatlineError } from "./errors.ts";
import { createLogger } from "./logger.ts";
import { timeoutError } from "./time.ts";

it.each([
  ["a bug", new TypeError("no"), true],
  ["what is known", new FlatlineError("store_busy", "no"), false],
  ["what took too long", timeoutError(), false],
])("logs %s, and a stack for bugs alone", (_, err, hasStack) => {
  const lines: string[] = [];

  createLogger({ level: "info", format: "json", pretty: () => "" }, (line) => void lines.push(line)).error(
    { err },
    "no",
  );

  expect(lines[0]).toContain(err.message);
  expect(lines[0]?.includes('"stack"')).toBe(hasStack);
});

it("applies a new level to children", () => {
  const lines: string[] = [];
  const look = { level: "info", format: "json", pretty: () => "" } as const;
  const logger = createLogger(look, (line) => void lines.push(line));
  const child = logger.child({ part: "x" });

  child.debug({}, "hidden");
  logger.adjust({ ...look, level: "debug" });
  child.debug({}, "shown");
  logger.adjust({ ...look, level: "silent" });
  child.error({}, "hidden");

  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(["shown"]);
});

import { expect, it } from "vitest";

import { wordings } from "../../src/commands/log-wording.ts";
import { readSourceFiles } from "./source-files.ts";

const texts = readSourceFiles("src").flatMap(({ path, text }) =>
  path.endsWith(".test.ts") || path === "src/commands/log-wording.ts" ? [] : [text],
);

it.each(Object.keys(wordings))("the words for people are of a message that is logged: %s", (message) => {
  expect(texts.some((text) => text.includes(JSON.stringify(message)))).toBe(true);
});

import { expect, it } from "vitest";

import { wordings } from "../../src/cli/terminal-log.ts";
import { readFiles } from "./project-files.ts";

const texts = readFiles("src", { tests: false }).flatMap(({ path, text }) =>
  path === "src/cli/terminal-log.ts" ? [] : [text],
);

it.each(Object.keys(wordings))("the words for people are of a message that is logged: %s", (message) => {
  expect(texts.some((text) => text.includes(JSON.stringify(message)))).toBe(true);
});

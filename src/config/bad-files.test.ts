import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { badConfigurations, renderBadConfigurations } from "../../test/support/bad-configurations.ts";
import { useConfigFolder } from "../../test/support/config-folder.ts";
import { FlatlineError } from "../base/errors.ts";
import { checkNames } from "../contract/report.ts";
import { receiverTypes } from "../receivers/receivers.ts";

const { folder, load } = useConfigFolder();
const testdata = fileURLToPath(new URL("testdata", import.meta.url));
const env = { TWO: "2", WORD: "two", FRACTION: "1.5", BASE_URL: "https://api.example.com/v2" };

async function problemsOf(text: string): Promise<readonly string[]> {
  const error = await load(text, env).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof FlatlineError)) throw new Error(`no FlatlineError: ${String(error)}`, { cause: error });
  expect(error).toMatchObject({ code: "invalid_config", exitCode: 78 });
  const [first, ...problems] = error.message.split("\n");
  expect(first).toBe(`the configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}`);
  expect(error.message).not.toContain("hush");
  // A new receiver or check does not change these files.
  return problems.map((problem) =>
    problem
      .replace(/^flatline\.yaml:/, "")
      .replaceAll(folder(), "TESTDATA")
      .replaceAll(receiverTypes.join(", "), "RECEIVER TYPES")
      .replaceAll(checkNames.join(", "), "CHECKS"),
  );
}

describe("loadConfig refuses, with every problem at its place and without a word of a secret,", () => {
  it.each(badConfigurations())("the configurations of $file", async ({ path, all }) => {
    await cp(`${testdata}/secrets`, `${folder()}/secrets`, { recursive: true });

    const found = [];
    for (const one of all) found.push({ ...one, problems: await problemsOf(one.text) });

    await expect(renderBadConfigurations(found)).toMatchFileSnapshot(path);
  });
});

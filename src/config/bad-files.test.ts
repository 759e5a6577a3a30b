import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { FlatlineError } from "../base/errors.ts";
import { checkNames } from "../contract/report.ts";
import { receiverTypes } from "../receivers/receivers.ts";
import { loadConfig } from "./load.ts";

const folder = fileURLToPath(new URL("testdata", import.meta.url));
const files = readdirSync(folder).filter((name) => /^bad-.*\.yaml$/.test(name));
const env = { TWO: "2", WORD: "two", FRACTION: "1.5", BASE_URL: "https://api.example.com/v2" };

async function messageOf(path: string): Promise<string> {
  const error = await loadConfig({ path, cwd: folder, env }).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof FlatlineError)) throw new Error(`no FlatlineError: ${String(error)}`, { cause: error });
  expect(error).toMatchObject({ code: "invalid_config", exitCode: 78 });
  return error.message;
}

describe("loadConfig refuses", () => {
  it.each(files)("%s with the message beside it", async (file) => {
    const message = await messageOf(file);

    // A new receiver or check changes none of these files.
    const text = message
      .replaceAll(folder, "TESTDATA")
      .replaceAll(receiverTypes.join(", "), "RECEIVER TYPES")
      .replaceAll(checkNames.join(", "), "CHECKS");
    await expect(`${text}\n`).toMatchFileSnapshot(`testdata/${file.replace(/yaml$/, "txt")}`);
  });

  it.each(files)("%s without a word of a secret", async (file) => {
    expect(await messageOf(file)).not.toContain("hush");
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { runProgram } from "../../support/program/program.ts";

let folder: DaemonFolder;
beforeEach(async () => {
  folder = await makeDaemonFolder();
});
afterEach(() => folder.close());

const columns = "{ slug: slug, at: at }";

describe("the built program", () => {
  it.each([
    { type: "postgres", url: "postgres://flatline:hush@127.0.0.1:9/none" },
    { type: "clickhouse", url: "http://127.0.0.1:9" },
  ])("has the driver of $type with it, and says that nobody listens", async ({ type, url }) => {
    await folder.configure(
      `source: { type: ${type}, url: "${url}", table: events, columns: ${columns} }\norganizations: [acme]\nstorage: { path: flatline.db }\n`,
    );

    const { stdout, exitCode } = await runProgram(["check", "--json"], { cwd: folder.path });

    expect(JSON.parse(stdout)).toMatchObject([{ slug: "acme", severity: "unknown", error: { reason: "network" } }]);
    expect(stdout).not.toContain("hush");
    expect(exitCode).toBe(3);
  });
});

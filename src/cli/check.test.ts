import { expect, it } from "vitest";

import { runCli } from "../../test/support/program/cli-run.ts";
import { makeProgramFolder } from "../../test/support/program/program-folder.ts";

const at = "2026-01-15T12:00:00Z";

/** Deaths of a slug within the window; with expected ones, also one an hour before it. */
function deaths(slug: string, count: number, isExpected: boolean): string {
  const end = Date.parse(at);
  const now = Array.from({ length: count }, () => `${end - 60_000},${slug}\n`).join("");
  const before = Array.from(
    { length: isExpected ? 168 : 0 },
    (_, hour) => `${end - (25 + hour) * 3_600_000},${slug}\n`,
  );
  return now + before.join("");
}

it("prints the worst organization first, in JSON the order of the configuration", async () => {
  await using folder = await makeProgramFolder(`
source: { type: embedded }
organizations: [fine, warned, silent, failed, failed-of-none]
storage: { path: flatline.db }
`);
  const rows = [
    deaths("fine", 20, true),
    deaths("warned", 60, true),
    deaths("failed", 240, true),
    deaths("failed-of-none", 12, false),
  ];
  await folder.write("events.csv", `at,slug\n${rows.join("")}`);
  await runCli(["import", "events", "events.csv"], { cwd: folder.path });

  const table = await runCli(["check", "--at", at], { cwd: folder.path });
  const json = await runCli(["check", "--at", at, "--json"], { cwd: folder.path });

  const shown = table.stdout.split("\n").map((line) => line.split(/ +/).slice(0, 2).join(" "));
  expect(shown.slice(1, -1)).toEqual([
    "fail failed-of-none",
    "fail failed",
    "unknown silent",
    "warn warned",
    "ok fine",
  ]);
  expect(table.stdout).toMatch(/^fail +failed-of-none +12 +0 +none expected {2}/m);
  const slugs = (JSON.parse(json.stdout) as { slug: string }[]).map(({ slug }) => slug);
  expect(slugs).toEqual(["fine", "warned", "silent", "failed", "failed-of-none"]);
  expect([table.exitCode, json.exitCode]).toEqual([2, 2]);
});

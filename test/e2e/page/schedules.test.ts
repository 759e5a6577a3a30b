import { afterEach, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

let folder: DaemonFolder | null = null;

afterEach(() => folder?.close());

/** A daemon over organizations with these schedules, all of which ran. */
async function start(schedules: Readonly<Record<string, string>>): Promise<string> {
  folder = await makeDaemonFolder();
  const organizations = Object.entries(schedules).map(
    ([slug, schedule]) => `  - { slug: ${slug}, schedule: "${schedule}" }`,
  );
  await folder.configure(`
source: { type: embedded }
organizations:
${organizations.join("\n")}
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
  const url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => {
    const checks = (await (await fetch(`${url}/api/v1/checks`)).json()) as { lastRunAt: string | null }[];
    return checks.every(({ lastRunAt }) => lastRunAt !== null);
  });
  return url;
}

it("names the interval of a schedule with seconds as it is configured", async () => {
  const url = await start({ acme: "*/10 * * * * *", globex: "*/10 * * * * *" });

  const html = await (await fetch(url)).text();

  expect(/<footer class="foot">\s*<p>([^<]*)/.exec(html)?.[1]?.replaceAll(/\s+/g, " ")).toContain(
    "embedded · 2 organizations every 10 s, 0 late",
  );
});

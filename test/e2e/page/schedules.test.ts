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

  expect(/<span id="footer">([^<]*)/.exec(html)?.[1]).toBe("embedded · 2 checks every 10s, 0 late");
});

it("takes each organization's interval from its schedule, gaps or not", async () => {
  const url = await start({
    weekdays: "*/10 * * * 1-5",
    office: "0 9-17 * * 1-5",
    twice: "0 9,17 * * *",
    daily: "0 6 * * *",
  });

  const { rows } = (await (await fetch(`${url}/rows.json`)).json()) as { rows: { slug: string; intervalMs: number }[] };

  expect(Object.fromEntries(rows.map(({ slug, intervalMs }) => [slug, intervalMs]))).toEqual({
    weekdays: 600_000,
    office: 3_600_000,
    twice: null,
    daily: 86_400_000,
  });
});

import { describe, expect, it } from "vitest";

import { errorReport, resultReport } from "../../../../test/support/check-reports.ts";
import { harnessNowMs, checkOf, useWebs } from "../../../../test/support/web-harness.ts";

const start = useWebs();
const minuteMs = 60_000;

async function page(web: Awaited<ReturnType<typeof start>>, path = "/"): Promise<string> {
  const answer = await fetch(web.url + path, { headers: { accept: "text/html" } });
  expect(answer.status).toBe(200);
  return (await answer.text()).replaceAll(/\s+/g, " ");
}

/** Returns the table's slugs, in its order. */
const slugsOf = (html: string): (string | undefined)[] =>
  [...html.matchAll(/<tr id="org-([^"]*)"/g)].map(([, slug]) => slug);

const headlineOf = (html: string): string =>
  (/<h1 id="headline">(.*?)<\/h1>/.exec(html)?.[1] ?? "")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();

describe("the overview", () => {
  it("says how to name organizations while there is none", async () => {
    const web = await start();
    web.world.checks = [];

    const html = await page(web);

    expect(headlineOf(html)).toBe("No organization is watched yet.");
    expect(html).toContain("organizations: [acme, globex]");
  });

  it.each([
    [
      "one could not be asked, by two checks",
      [checkOf(errorReport({ slug: "b" })), checkOf(errorReport({ slug: "b", check: "event-flow" }))],
      "1 organization could not be checked.",
    ],
    [
      "another check fails",
      [
        checkOf(resultReport({ slug: "a", severity: "ok" })),
        checkOf(resultReport({ slug: "a", severity: "fail", check: "sentinel" })),
      ],
      "1 organization has another check that is not ok.",
    ],
  ])("%s", async (_name, snapshots, sentence) => {
    const web = await start();
    web.world.checks = snapshots;

    expect(headlineOf(await page(web))).toBe(sentence);
  });

  it("never draws what is unknown as ok or as 0, however old a good result is", async () => {
    const web = await start();
    web.world.checks = [
      checkOf(errorReport({ slug: "dark" })),
      checkOf(resultReport({ slug: "old", severity: "ok", finishedAtMs: harnessNowMs - 60 * minuteMs })),
    ];

    const html = await page(web);

    expect(headlineOf(html)).toBe("2 organizations could not be checked.");
    expect(html.match(/<td class="n" >–/g)).toHaveLength(2);
    // No organization has a label.
    expect(html).not.toMatch(/Labels|team=/);
    // The icon of another page says the same.
    web.world.checks = web.world.checks.slice(1);
    web.world.nowMs += minuteMs;
    expect(await page(web, "/silences")).toContain(`href="/assets/unknown.svg"`);
  });

  it("escapes what others wrote, and leads to an organization of any name", async () => {
    const odd = `<b>o'd/d`;
    const web = await start();
    web.world.checks = [checkOf(resultReport({ slug: odd }))];

    const html = await page(web);

    expect(html).not.toContain("<b>o");
    expect(html).toContain(`href="/o/${encodeURIComponent(odd).replace("'", "&#39;")}"`);
  });

  it("has pages of a hundred", async () => {
    const web = await start();
    web.world.checks = Array.from({ length: 510 }, (_, index) => checkOf(null, { slug: `s${index}` }));

    const first = await page(web);
    const last = await page(web, "/?page=6");

    expect(slugsOf(first)).toHaveLength(100);
    expect(first).toContain('href="/?page=2"');
    expect(slugsOf(last)).toHaveLength(10);
  });

  it.each([
    ["a severity", "/?severity=fail", ["bad"]],
    ["words", "/?q=FIN", ["fine"]],
    ["nothing that is known", "/?severity=red&page=nine", ["bad", "fine"]],
  ])("filters by %s", async (_rule, path, slugs) => {
    const web = await start();
    web.world.checks = [
      checkOf(resultReport({ severity: "ok", slug: "fine" })),
      checkOf(resultReport({ severity: "fail", slug: "bad" })),
    ];

    expect(slugsOf(await page(web, path))).toEqual(slugs);
  });

  it("says for how long a run is late", async () => {
    const web = await start();
    const report = resultReport({ slug: "acme", severity: "ok" });
    web.world.checks = [checkOf(report, { nextDueAtMs: harnessNowMs - 3 * minuteMs })];

    const html = await page(web);

    expect(html.replaceAll("\u00a0", " ")).toContain("late 3 min");
    expect(html).toContain("1 late");
  });
});

import { describe, expect, it } from "vitest";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import { differingLines } from "./differing-lines.ts";
import { renderConfig } from "./render.ts";

const { load } = useConfigFolder();

/** The lines that are marked of what a configuration comes to, without their indent. */
async function marked(text: string): Promise<string[]> {
  const shown = renderConfig(await load(text));
  const lines = shown.split("\n");
  return [...differingLines(shown)].map((line) => (lines[line - 1] ?? "").replace(/^[ -]*/, ""));
}

describe("differingLines", () => {
  it("are only those that have no default where nothing is said but what must be", async () => {
    const text = `
source: { type: embedded }
organizations: [acme, globex]
receivers:
  - { name: console, type: log }
  - { name: pager, type: pagerduty, routingKey: hush-key, minSeverity: warn }
  - { name: bot, type: slack, token: xoxb-hush-hush-hush, channel: C1 }
secondOpinion: { verifier: { url: "https://looks.example" } }
`;

    expect(await marked(text)).toEqual(['token: "***"', "channel: C1", 'url: "***"']);
  });

  it("are those with another value than the default, that of a receiver's kind and of all receivers too", async () => {
    const text = `
source: { type: embedded, concurrency: 64 }
organizations: [acme, { slug: globex, receivers: [console] }, { slug: quiet, receivers: [], alert: { for: 10m } }]
receivers:
  - { name: console, type: log, sendUnknown: false }
  - { name: bot, type: slack, token: xoxb-hush-hush-hush, channel: C1, sendActs: false }
`;

    expect(await marked(text)).toEqual([
      "concurrency: 64",
      "receivers:",
      "receivers: []",
      "for: 10m",
      "sendUnknown: false",
      'token: "***"',
      "channel: C1",
      "sendActs: false",
    ]);
  });
});

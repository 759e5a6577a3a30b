import { describe, expect, it } from "vitest";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import { checkConfig } from "./load.ts";

const { folder, write } = useConfigFolder();

async function warningsOf(text: string): Promise<readonly string[]> {
  await write("flatline.yaml", text);
  const { warnings } = await checkConfig({ path: "flatline.yaml", cwd: folder(), env: {} });
  return warnings();
}

const base = "source: { type: embedded }\norganizations: [acme, { slug: globex, labels: { team: trust } }]\n";
const log = (more: string): string => `receivers: [{ name: a, type: log }, { name: b, type: log ${more}}]\n`;
const remote = "source: { baseUrl: https://api.example.com, apiKey: key }\n";
const proxy = (groups: string): string => `server: { trustedProxy: { from: [127.0.0.1], may: ${groups} } }\n`;

describe("a warning is what", () => {
  it.each([
    ["never warns", `${base}defaults: { thresholds: { warnMultiplier: 5 } }\n`, "defaults.thresholds.warnMultiplier: "],
    [
      "never warns, with what defaults has",
      "source: { type: embedded }\ndefaults: { thresholds: { warnMultiplier: 3 } }\n" +
        "organizations: [{ slug: acme, thresholds: { failMultiplier: 2 } }]\n",
      "organizations[0].thresholds.failMultiplier: failMultiplier 2 is below warnMultiplier 3",
    ],
    [
      "YAML folded into one slug",
      "source: { type: embedded }\norganizations:\n  - acme\n   - globex\n  - hooli\n",
      "organizations[0]: is one name of several words",
    ],
    ["nobody is routed to", `${base}defaults: { receivers: [a] }\n${log("")}`, "receivers[1]: gets nothing"],
    [
      "nobody is routed to, though more are discovered",
      "source: { type: embedded }\ndiscover: [{ name: d, file: list.json }]\n" +
        `defaults: { receivers: [{ name: b, after: 5m }] }\n${log("")}`,
      "receivers[0]: gets nothing",
    ],
    ["matches no slug", base + log(", match: { slug: 'acne-*' }"), "receivers[1].match.slug: matches no organization"],
    ["matches no label", base + log(", match: { labels: { team: ops } }"), "receivers[1].match.labels: matches no"],
    [
      "matches no slug with that label",
      base + log(", match: { slug: acme, labels: { team: trust } }"),
      "receivers[1].match.slug: matches no organization",
    ],
    [
      "silences nobody",
      `${base}silences: [{ slug: acne, schedule: "0 2 * * *", duration: 1h }]\n`,
      'silences[0].slug: matches no organization; did you mean "acme"?',
    ],
    [
      "no proxy can send",
      base + proxy(`{ "CN=sre,DC=example": [read] }`),
      `may["CN=sre,DC=example"]: no proxy can send`,
    ],
    ["no proxy sends with its blanks", base + proxy(`{ " sre": [read] }`), `may[" sre"]: no proxy can send`],
    ["signs no links", `${base}server: { linkSecret: sixteen-bytes-xx }\n`, "server.linkSecret: signs no links"],
    [
      "no check is switched on for",
      `${base}defaults: { eventFlow: { maxSilence: 1h } }\n`,
      "defaults.eventFlow: has no",
    ],
    [
      "leaves out no healthcheck",
      `${remote}organizations: [{ slug: acme, healthchecks: [{ path: a/b, enabled: false }] }]\n`,
      "organizations[0].healthchecks[0]: leaves out",
    ],
    [
      "is of stored events",
      `${remote}organizations: [{ slug: acme, whenNoEvents: ok }]\n`,
      "whenNoEvents: has no effect",
    ],
    [
      "keeps no events",
      `${remote}organizations: [acme]\nstorage: { eventRetention: 30d }\n`,
      "storage.eventRetention: ",
    ],
  ])("%s", async (_what, text, said) => {
    const warnings = await warningsOf(text);

    expect(warnings).toEqual([expect.stringContaining(said)]);
    expect(warnings[0]).toMatch(/^flatline\.yaml:\d+:\d+: warning: \w/);
  });

  it.each([
    ["all defaults", `${base}defaults: { eventFlow: { enabled: false, maxSilence: 24h }, whenNoEvents: unknown }\n`],
    ["one that an organization has", `${base}defaults: { receivers: [a] }\nreceivers: [{ name: a, type: log }]\n`],
    [
      "a pattern of one",
      `${base}silences: [{ slug: "glo*", labels: { team: "t*" }, schedule: "@daily", duration: 1h }]\n`,
    ],
    [
      "what may be discovered",
      `${base}discover: [{ name: d, file: list.json }]\nsilences: [{ slug: x, schedule: "@daily", duration: 1h }]\n`,
    ],
    [
      "a check that one organization switches on",
      "source: { type: embedded }\ndefaults: { eventFlow: { maxSilence: 1h } }\n" +
        "organizations: [acme, { slug: globex, eventFlow: { enabled: true } }]\n",
    ],
    ["a group with a blank", base + proxy(`{ "site reliability": [read] }`)],
  ])("and not %s", async (_what, text) => {
    expect(await warningsOf(text)).toEqual([]);
  });
});

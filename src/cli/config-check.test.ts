import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { runCli } from "../../test/support/program/cli-run.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-config-check-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function check(
  receiver: string,
  ...args: string[]
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const text =
    "source: { type: embedded }\norganizations: [acme]\nreceivers:\n" +
    `  - { name: ops, type: webhook, url: "https://x.example", ${receiver} }\n`;
  await writeFile(join(folder, "flatline.yaml"), text);
  return runCli(args.length === 0 ? ["config", "check"] : args, { cwd: folder });
}

it("writes each warning to stderr, and ends well", async () => {
  const more =
    "minSeverity: fail }\n  - { name: team, type: slack, url: https://hooks.example/x, match: { slug: acne }";

  expect(await check(more)).toEqual({
    exitCode: 0,
    stdout: "flatline.yaml: ok, 1 organization, 2 receivers\n",
    stderr: `flatline.yaml:1:1: warning: alerting.externalUrl: is not set: \
messages to team have no link to the incident; set it to the address by which people reach flatline
flatline.yaml:5:77: warning: receivers[1].match.slug: matches no organization; did you mean "acme"?
`,
  });
});

it("without the files that it names, the rest is checked, and what they hold is taken as right", async () => {
  const named = 'secret: "${file:/nowhere/hook}"';

  expect((await check(named)).stderr).toContain("receivers[0].secret: the file /nowhere/hook does not exist");
  expect(await check(named, "config", "check", "--without-files")).toMatchObject({
    exitCode: 0,
    stdout: "flatline.yaml: ok, 1 organization, 1 receiver\n",
  });
});

describe("templates of webhooks", () => {
  it.each([
    ["JSON", `template: '{"text": "{{ summary }}"}'`],
    ["the whole payload", `template: '{{ payload | json }}'`],
    ["text", `template: '{{ summary }}', contentType: text/plain`],
    ["fleet or not", `template: '{"n": {% if fleet %}{{ fleet.spiking }}{% else %}{{ alerts.size }}{% endif %}}'`],
  ])("that work are no problem: %s", async (_name, receiver) => {
    expect(await check(receiver)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it.each<[string, string, RegExp]>([
    ["grammar", `template: '{{ summary'`, /cannot be used: template: .*not closed/],
    ["a variable that is none", `template: '{"text": "{{ sumary }}"}'`, /tried on a sample of kind "\w+".*sumary/],
    ["a filter that is none", `template: '{{ summary | shout }}', contentType: text/plain`, /shout/],
    ["what only some notifications have", `template: '{"n": {{ fleet.spiking }}}'`, /tried on a sample of kind "\w+"/],
    ["output that is no JSON", `template: 'text: {{ summary }}'`, /is not JSON/],
    ["a file", `template: '{% include "/etc/passwd" %}', contentType: text/plain`, /include/],
    [
      "more than the bounds allow",
      `template: '{% for i in (1..100000000) %}{{ i }}{% endfor %}', contentType: text/plain`,
      /limit/,
    ],
  ])("that fail are told with their place: %s", async (_name, receiver, reason) => {
    const { exitCode, stdout, stderr } = await check(receiver);

    expect([exitCode, stdout]).toEqual([78, ""]);
    expect(stderr).toMatch(
      /^flatline: the configuration has a problem\nflatline\.yaml:4:\d+: receivers\[0\]\.template: /,
    );
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain("    at ");
  });
});

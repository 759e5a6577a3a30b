import { describe, expect, it } from "vitest";

import { runCli } from "../../test/support/program/cli-run.ts";
import { makeProgramFolder } from "../../test/support/program/program-folder.ts";

async function check(
  receiver: string,
  ...args: string[]
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  await using folder = await makeProgramFolder(
    "source: { type: embedded }\norganizations: [acme]\nreceivers:\n" +
      `  - { name: ops, type: webhook, url: "https://x.example", ${receiver} }\n`,
  );
  return await runCli(args.length === 0 ? ["config", "check"] : args, { cwd: folder.path });
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

describe("a webhook's template", () => {
  it("is no problem where it words all kinds of notifications", async () => {
    const template = `'{"n": {% if fleet %}{{ fleet.spiking }}{% else %}{{ alerts.size }}{% endif %}}'`;

    expect(await check(`template: ${template}`)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it.each<[string, string, RegExp]>([
    ["only some notifications have what it names", `{"n": {{ fleet.spiking }}}`, /tried on a sample of kind "\w+"/],
    ["its output is no JSON", "text: {{ summary }}", /is not JSON/],
  ])("is told with its place where %s", async (_what, template, reason) => {
    const { exitCode, stdout, stderr } = await check(`template: '${template}'`);

    expect([exitCode, stdout]).toEqual([78, ""]);
    expect(stderr).toMatch(
      /^flatline: the configuration has a problem\nflatline\.yaml:4:\d+: receivers\[0\]\.template: /,
    );
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain("    at ");
  });
});

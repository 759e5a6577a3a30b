import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { organizationOf, useConfigFolder } from "../../test/support/config-folder.ts";
import type { Environment } from "./document/interpolation.ts";
import { findConfigPath, loadClientConfig, loadConfig } from "./load.ts";

const { folder, write, load, problemsOf } = useConfigFolder();

const remote = `source: { baseUrl: "https://api.example.com/v2", apiKey: key }\n`;
const embedded = "source: { type: embedded }\n";

describe("files", () => {
  it("of the preload are relative to the file, the store's to nothing yet", async () => {
    const config = await load(
      "source: { type: embedded, preload: [{ events: data/e.csv.gz, rebase: true }, { fixture: /f.yaml }] }\n" +
        "organizations: [a]\nstorage: { path: x.db }\n",
    );

    expect(config.source).toMatchObject({
      preload: [{ events: join(folder(), "data/e.csv.gz"), rebase: true }, { fixture: "/f.yaml" }],
    });
    expect(config.storage.path).toBe("x.db");
  });

  it("that are missing are named", async () => {
    await expect(loadConfig({ path: "none.yaml", cwd: folder(), env: {} })).rejects.toMatchObject({
      code: "invalid_config",
      exitCode: 78,
      message: "the configuration file none.yaml does not exist",
    });
  });

  it("that are nested too deeply are refused", async () => {
    const problems = await problemsOf(`${embedded}organizations: ${"[".repeat(100)}${"]".repeat(100)}\n`);

    expect(problems.join("\n")).toContain("is nested too deeply");
  });

  it("that are no UTF-8 are refused", async () => {
    await writeFile(join(folder(), "flatline.yaml"), Buffer.from([0xff, 0xfe, 0x00]));

    await expect(loadConfig({ path: "flatline.yaml", cwd: folder(), env: {} })).rejects.toThrow(
      "flatline.yaml:1:1: yaml: is not UTF-8 text",
    );
  });

  it("may begin with a byte order mark and have Windows line ends", async () => {
    const problems = await problemsOf(`\uFEFFsource:\r\n  type: embedded\r\norganizations: [1]\r\n`);

    expect(problems).toEqual([
      "flatline.yaml:3:17: organizations[0]: must be a string or an object, not a number; put it in quotes",
    ]);
  });
});

describe("a configuration", () => {
  it("may use aliases", async () => {
    const config = await load(`${embedded}
organizations:
  - slug: a
    thresholds: &strict { failMultiplier: 3 }
  - slug: b
    thresholds: *strict
`);

    expect(config.organizations.map(({ thresholds }) => thresholds.failMultiplier)).toEqual([3, 3]);
  });

  it("is frozen to its leaves", async () => {
    const config = await load(`${remote}organizations: [{ slug: acme, labels: { a: b } }]\n`);
    const acme = organizationOf(config, "acme");

    for (const part of [config, config.organizations, acme, acme.labels, acme.thresholds, config.source]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it.each([
    ["the file's", "server: { listen: '[::1]:1' }", { FLATLINE_LISTEN: "0.0.0.0:2" }, "[::1]:1"],
    ["the environment's", "", { FLATLINE_LISTEN: "0.0.0.0:2" }, "0.0.0.0:2"],
    ["every address with a port alone", "server: { listen: ':0' }", {}, "0.0.0.0:0"],
    ["an empty variable's default", "", { FLATLINE_LISTEN: "" }, "127.0.0.1:9640"],
  ])("listens on %s", async (_rule, line, env, listen) => {
    const config = await load(`${embedded}organizations: [acme]\n${line}\n`, env);

    expect(config.server.listen).toBe(listen);
  });

  it.each([
    ["is no address", "9640", 'must be HOST:PORT such as "127.0.0.1:9640" or "[::1]:9640"'],
    ["has no such port", "[::1]:65536", "must have a port from 0 to 65535, not 65536"],
    ["has a longer port", ":123456", "must have a port from 0 to 65535, not 123456"],
  ])("refuses a FLATLINE_LISTEN that %s", async (_rule, listen, says) => {
    expect(await problemsOf(`${embedded}organizations: [acme]\n`, { FLATLINE_LISTEN: listen })).toEqual([
      `flatline.yaml:1:1: server.listen: $FLATLINE_LISTEN ${says}`,
    ]);
  });
});

describe("loadClientConfig", () => {
  const tokens = `
    - { name: reader, token: may-read-only-0000, may: [read] }
    - { name: ops, token: may-do-the-most-00, may: [read, operate, admin] }
    - { name: more, token: may-as-much-000000, may: [read, operate, admin] }`;

  it.each([
    ["the token that may do the most", `tokens: ${tokens}`, "may-do-the-most-00"],
    ["server.token before all", `token: all-rights-0000000\n  tokens: ${tokens}`, "all-rights-0000000"],
  ])("takes %s", async (_rule, server, expected) => {
    await write("flatline.yaml", `${embedded}server:\n  ${server}\n`);

    const { token } = await loadClientConfig({ path: "flatline.yaml", cwd: folder(), env: {} }, ["listen", "token"]);

    expect(token?.reveal()).toBe(expected);
  });
});

describe("findConfigPath", () => {
  const find = (flag: string | undefined, env: Environment): string => findConfigPath({ flag, env, cwd: folder() });

  it.each([
    ["-c before all", "a.yaml", { FLATLINE_CONFIG: "b.yaml" }, "a.yaml"],
    ["$FLATLINE_CONFIG before the file here", undefined, { FLATLINE_CONFIG: "b.yaml" }, "b.yaml"],
    ["the file here, with an empty variable too", undefined, { FLATLINE_CONFIG: "" }, "flatline.yaml"],
  ])("takes %s", async (_rule, flag, env, expected) => {
    await write("flatline.yaml", embedded);

    expect(find(flag, env)).toBe(expected);
  });

  it("says where it looked", () => {
    expect(() => find(undefined, {})).toThrow("neither ./flatline.yaml nor /etc/flatline/flatline.yaml exists");
  });
});

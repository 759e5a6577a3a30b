import { spawnSync } from "node:child_process";
import { open, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { describe, expect, it } from "vitest";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import { createLogger } from "../base/logger.ts";
import { Secret } from "../base/secret.ts";
import { checkConfig } from "./load.ts";
import { describeConfig, renderConfig } from "./render.ts";

const { folder, write, load, problemsOf } = useConfigFolder();

const embedded = "source: { type: embedded }\n";

describe("references to the environment", () => {
  it("cannot inject YAML", async () => {
    const config = await load(`${embedded}organizations: ["\${SLUG}"]\n`, {
      SLUG: "a, b]\nlog: { level: debug }",
    }).catch((error: unknown) => String(error));

    expect(config).toContain("flatline.yaml:2:17: organizations[0]: must not hold control characters");
  });

  it.each([
    ["a number", "retries: ${N}", { N: "5" }, { retries: 5 }],
    ["a number's default", "retries: ${N:-0}", {}, { retries: 0 }],
    ["a string that looks like a number", "apiKey: ${N}", { N: "0123" }, { apiKey: new Secret("0123") }],
    ["within text", "timeout: ${N}s", { N: "5" }, { timeoutMs: 5_000 }],
  ])("are %s where that is wanted", async (_rule, line, env, expected) => {
    const config = await load(
      `source:\n  baseUrl: https://api.example.com\n  ${line}\norganizations: [{ slug: acme, apiKey: k }]\n`,
      env,
    );

    expect(config.source).toMatchObject(expected);
  });

  it("are booleans where those are wanted, in unions too", async () => {
    const text = `${embedded}organizations: [acme]\nserver:\n  publicRead: \${READ}\nalerting:\n  fleet: \${FLEET}\n`;

    const config = await load(text, { READ: "false", FLEET: "false" });

    expect(config).toMatchObject({ server: { publicRead: false }, alerting: { fleet: null } });
  });
});

const file = (name: string): string => `"\${file:${name}}"`;

describe("the text of a file", () => {
  it("is what the file holds, without its last line end, relative to the folder of the configuration", async () => {
    await write("texts/key", "own\r\n");
    await write("texts/lines", "a\n\n");
    await write("texts/number", "7\n");
    const config = await load(`source:
  baseUrl: https://api.example.com
  apiKey: ${file("texts/key")}
  retries: \${file:texts/number}
organizations: [acme]
silences:
  - { slug: "*", startsAt: 2026-01-01T00:00:00Z, endsAt: 2026-01-02T00:00:00Z, comment: ${file("texts/lines")} }
`);

    expect(config.source).toMatchObject({ apiKey: new Secret("own"), retries: 7 });
    expect(config.silences[0]?.comment).toBe("a\n");
  });

  it("is shown nowhere, whatever it is a part of", async () => {
    for (const text of ["platform-team", "hush-slug", "5", "9m", "hush.example", "hush-param"]) await write(text, text);
    const config = await load(`source:
  baseUrl: "https://\${file:hush.example}"
  apiKey: k
  retries: \${file:5}
defaults: { labels: { team: ${file("platform-team")} } }
organizations:
  - ${file("hush-slug")}
  - { slug: acme, labels: { own: shown }, alert: { for: ${file("9m")} } }
  - { slug: globex, healthchecks: [{ path: a/b, parameters: { x: ${file("hush-param")} } }] }
`);
    const shown = renderConfig(config);

    expect(shown).not.toMatch(/hush|platform-team|9m/);
    expect(describeConfig(config)).toMatchObject({
      source: { baseUrl: "***", retries: "***" },
      organizations: [
        { slug: "***", labels: { team: "***" } },
        { slug: "acme", labels: { team: "***", own: "shown" }, alert: { for: "***" } },
        { healthchecks: "***" },
      ],
    });
    expect(config.hiddenTexts.map((text) => text.reveal())).toEqual(
      expect.arrayContaining(["platform-team", "hush-slug", "hush.example", "hush-param"]),
    );
    const lines: string[] = [];
    const look = { level: "info", format: "json", hidden: config.hiddenTexts, pretty: () => "" } as const;
    createLogger(look, (line) => void lines.push(line)).info({ slug: "hush-slug" }, "check failed");
    expect(lines.join("")).toContain('"slug":"***"');
  });

  it("is in no message about it", async () => {
    await write("zone", "Hush/Hush");

    expect(await problemsOf(`${embedded}organizations: [acme]\ndefaults: { timezone: ${file("zone")} }\n`)).toEqual([
      'flatline.yaml:3:23: defaults.timezone: "***" is not a known timezone',
    ]);
  });

  it.each([
    ["that is not there", "nowhere", "does not exist"],
    ["that is no text", "binary", "is not UTF-8 text"],
  ])("of a file %s is an error where it is named", async (_rule, name, reason) => {
    await writeFile(join(folder(), "binary"), Buffer.from([0xc3, 0x28]));

    const problems = await problemsOf(`${embedded}organizations: [acme]\nappUrl: \${file:${name}}\n`);

    expect(problems).toEqual([`flatline.yaml:3:9: appUrl: the file ${resolve(folder(), name)} ${reason}`]);
  });

  it("is taken as right where no file is read", async () => {
    const text = `source:
  baseUrl: https://api.example.com
  apiKey: ${file("a")}
  retries: \${file:b}
organizations: [acme]
receivers: [{ name: hook, type: webhook, url: ${file("c")}, secret: ${file("d")}, headers: { X: ${file("e")} } }]
`;
    await write("flatline.yaml", text);
    const check = (): ReturnType<typeof checkConfig> =>
      checkConfig({ path: "flatline.yaml", cwd: folder(), env: {}, isWithoutFiles: true });

    expect((await check()).counts).toEqual({ organizations: 1, discover: 0, receivers: 1 });
    await write("flatline.yaml", `${text}log: { level: loud }\n`);
    await expect(check()).rejects.toThrow("log.level");
  });
});

describe("secrets", () => {
  it("may be lists and headers, each from a file", async () => {
    await write("hook", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\n");
    await write("old", "sixteen bytes xx\n");
    await write("bearer", "x:y\n");
    const config = await load(`${embedded}organizations: [acme]
receivers:
  - name: hook
    type: webhook
    url: https://hooks.example.com
    secret: [${file("hook")}, ${file("old")}]
    headers: { Authorization: "Bearer \${file:bearer}", X-Team: trust }
`);

    const [receiver] = config.receivers;

    if (receiver?.type !== "webhook") throw new Error("no webhook");
    const secrets = receiver.secret?.map((secret) => secret.reveal());
    expect(secrets).toEqual(["whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", "sixteen bytes xx"]);
    expect(Object.entries(receiver.headers ?? {}).map(([name, value]) => [name, value.reveal()])).toEqual([
      ["authorization", "Bearer x:y"],
      ["x-team", "trust"],
    ]);
  });

  it.each([
    ["plain text of 16 bytes", "sixteen-bytes-xx", true],
    ["plain text of 15 characters that are 16 bytes", "sixteen-bytes-ü", true],
    ["plain text of 15 bytes", "fifteen-bytes-x", false],
    ["base64 of 24 bytes", `whsec_${Buffer.alloc(24).toString("base64")}`, true],
    ["base64 of 23 bytes", `whsec_${Buffer.alloc(23).toString("base64")}`, false],
    ["base64 of 64 bytes", `whsec_${Buffer.alloc(64).toString("base64")}`, true],
    ["base64 of 65 bytes", `whsec_${Buffer.alloc(65).toString("base64")}`, false],
    ["whsec_ and no base64", "whsec_this-is-not-base64-at-all-but-long", false],
  ])("of webhooks may be %s: %s, %s", async (_rule, secret, isRight) => {
    const text =
      `${embedded}organizations: [acme]\n` +
      `receivers: [{ name: a, type: webhook, url: "https://x.example", secret: "${secret}" }]\n`;

    const outcome = await load(text).then(
      () => "right",
      () => "wrong",
    );

    expect(outcome).toBe(isRight ? "right" : "wrong");
  });

  it("that a file holds are checked like those in the configuration, unseen", async () => {
    await write("url", "hooks.example.com/hush\n");

    const problems = await problemsOf(
      `${embedded}organizations: [acme]\nreceivers: [{ name: a, type: slack, url: ${file("url")} }]\n`,
    );

    expect(problems).toEqual([
      "flatline.yaml:3:42: receivers[0].url: must be an address that begins with http:// or https://",
    ]);
  });

  it.each([
    ["a device without end", "/dev/zero", "is not a regular file but a pipe, a socket or a device"],
    ["a pipe that nobody writes to", "pipe", "is not a regular file but a pipe, a socket or a device"],
    ["a link to one", "linked-pipe", "is not a regular file but a pipe, a socket or a device"],
    ["a folder", ".", "is a folder"],
    ["a link to nothing", "dangling", "does not exist"],
    ["a large file", "large", "is larger than 65536 bytes"],
  ])("are not read from %s", async (_what, name, reason) => {
    spawnSync("mkfifo", [join(folder(), "pipe")]);
    await symlink("pipe", join(folder(), "linked-pipe"));
    await symlink("nowhere", join(folder(), "dangling"));
    await write("large", "x".repeat(65_537));

    const problems = await problemsOf(
      `source: { baseUrl: "https://a.example", apiKey: ${file(name)} }\norganizations: [a]\n`,
    );

    expect(problems).toEqual([`flatline.yaml:1:49: source.apiKey: the file ${resolve(folder(), name)} ${reason}`]);
  });

  it("are read from what Kubernetes mounts, and from what a shell redirects", async () => {
    await write("..2026_11_22/key", "mounted-key\n");
    await symlink("..2026_11_22", join(folder(), "..data"));
    await symlink("..data/key", join(folder(), "key"));
    await using redirected = await open(join(folder(), "key"));

    for (const name of ["key", `/proc/self/fd/${redirected.fd}`]) {
      const config = await load(
        `source: { baseUrl: "https://a.example", apiKey: ${file(name)} }\norganizations: [a]\n`,
      );
      expect(config.source.type === "remote" && config.source.apiKey?.reveal()).toBe("mounted-key");
    }
  });
});

import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { Secret } from "../base/secret.ts";
import type { Config, OrganizationConfig } from "./config.ts";
import type { Environment } from "./document/interpolation.ts";
import { findConfigPath, loadConfig } from "./load.ts";
import { renderConfig } from "./render.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-config-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

async function load(text: string, env: Environment = {}): Promise<Config> {
  await write("flatline.yaml", text);
  return loadConfig({ path: "flatline.yaml", cwd: folder, env });
}

async function problemsOf(text: string, env: Environment = {}): Promise<string[]> {
  const error: unknown = await load(text, env).catch((error: unknown) => error);
  if (!(error instanceof Error)) throw new Error("the configuration is right");
  return error.message.split("\n").slice(1);
}

function organization(config: Config, slug: string): OrganizationConfig {
  const found = config.organizations.find((candidate) => candidate.slug === slug);
  if (found === undefined) throw new Error(`no organization ${slug}`);
  return found;
}

const remote = `source: { baseUrl: "https://api.example.com/v2", apiKey: key }\n`;
const embedded = "source: { type: embedded }\n";

describe("defaults", () => {
  it("are CONTRACT 4's where nothing is said", async () => {
    const config = await load(`${remote}organizations: [acme]\n`);

    expect(JSON.parse(JSON.stringify(config))).toEqual({
      discover: [],
      files: [join(folder, "flatline.yaml")],
      source: {
        type: "remote",
        isLocal: false,
        holdsEvents: false,
        baseUrl: "https://api.example.com/v2",
        apiKey: "***",
        timeoutMs: 30_000,
        retries: 2,
        concurrency: 16,
        observedKeys: {
          currentCount: "currentCount",
          baselineCount: "baselineCount",
          expectedCount: "expectedCount",
          ratio: "ratio",
        },
      },
      organizations: [
        {
          slug: "acme",
          schedule: { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 },
          thresholds: { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 },
          baseline: "mean",
          attributionDays: 28,
          baselineExclude: "none",
          whenNoEvents: "unknown",
          sample: true,
          receivers: [],
          labels: {},
          alert: {
            forMs: 0,
            keepFiringForMs: 0,
            unknownAfter: 3,
            repeatIntervalMs: 14_400_000,
            minBaselineCoverage: 0,
          },
          reviewQueue: {
            enabled: false,
            schedule: { pattern: "*/10 * * * *", timezone: "UTC", jitterMs: 0 },
            warnAfterMs: 14_400_000,
            failAfterMs: 86_400_000,
          },
          sentinel: { assets: [], schedule: { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 } },
          eventFlow: {
            enabled: false,
            schedule: { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 },
            maxSilenceMs: "auto",
            maxCoverageDrop: 0.5,
          },
          regret: null,
          gate: { releaseOn: ["judged"], whenUnknown: "allow" },
          apiKey: null,
          discoveredBy: null,
          setAt: { "": "flatline.yaml:2" },
        },
      ],
      defaults: { baseline: "mean", gate: { releaseOn: ["judged"], whenUnknown: "allow" } },
      alerting: {
        groupWaitMs: 10_000,
        groupIntervalMs: 60_000,
        fleet: { minOrganizations: 3, ratio: 0.5 },
        sample: 10,
        externalUrl: null,
      },
      receivers: [],
      silences: [],
      appUrl: null,
      server: {
        listen: "127.0.0.1:9640",
        token: null,
        tokens: [],
        trustedProxy: null,
        publicRead: true,
        linkSecret: null,
        drainTimeoutMs: 8_000,
      },
      storage: {
        path: "./data/flatline.db",
        url: null,
        poolSize: 10,
        retentionMs: 7_776_000_000,
        auditRetentionMs: 34_560_000_000,
        eventRetentionMs: 0,
      },
      heartbeat: null,
      log: { level: "info", format: "auto" },
    });
  });

  it("choose the baseline, which an organization may choose anew, also for organizations that nobody names", async () => {
    const config = await load(
      `${embedded}\ndefaults: { baseline: median }\norganizations: [acme, { slug: globex, baseline: mean }]\n`,
    );

    expect(config.organizations.map(({ slug, baseline }) => [slug, baseline])).toEqual([
      ["acme", "median"],
      ["globex", "mean"],
    ]);
    expect(config.defaults).toMatchObject({ baseline: "median" });
    expect(config.organizations[1]?.setAt["baseline"]).toMatch(/^flatline\.yaml:\d+$/);
    const again = await load(renderConfig(config));
    expect(again.defaults).toEqual(config.defaults);
    expect(again.organizations.map(({ baseline }) => baseline)).toEqual(["median", "mean"]);
  });

  it("fill in what an organization does not say, field by field", async () => {
    const config = await load(`${embedded}
defaults:
  schedule: "@hourly"
  timezone: Europe/Berlin
  jitter: 30s
  thresholds: { failMultiplier: 5, minSpikeCount: 20 }
  labels: { team: trust, tier: gold }
  alert: { for: 10m, unknownAfter: 5 }
  reviewQueue: { enabled: true, warnAfter: 2h }
  receivers: [ops]
organizations:
  - acme
  - slug: globex
    timezone: UTC
    thresholds: { failMultiplier: 6 }
    labels: { tier: silver }
    alert: { for: 0s }
    reviewQueue: { schedule: "*/20 * * * *" }
    receivers: [console]
receivers:
  - { name: ops, type: log }
  - { name: console, type: log }
`);

    expect(organization(config, "acme")).toMatchObject({
      schedule: { pattern: "@hourly", timezone: "Europe/Berlin", jitterMs: 30_000 },
      thresholds: { windowHours: 24, failMultiplier: 5, minSpikeCount: 20 },
      labels: { team: "trust", tier: "gold" },
      receivers: [{ name: "ops", afterMs: 0 }],
    });
    expect(organization(config, "globex")).toMatchObject({
      schedule: { pattern: "@hourly", timezone: "UTC", jitterMs: 30_000 },
      thresholds: { windowHours: 24, failMultiplier: 6, minSpikeCount: 20, warnMultiplier: 2 },
      labels: { team: "trust", tier: "silver" },
      alert: { forMs: 0, unknownAfter: 5 },
      reviewQueue: {
        enabled: true,
        warnAfterMs: 7_200_000,
        schedule: { pattern: "*/20 * * * *", timezone: "UTC", jitterMs: 30_000 },
      },
      receivers: [{ name: "console", afterMs: 0 }],
    });
  });

  it.each([
    ["all receivers when nobody chose", "organizations: [acme]", ["a", "b"]],
    ["none with an empty list of its own", "organizations: [{ slug: acme, receivers: [] }]", []],
    ["none with an empty list of the defaults", "defaults: { receivers: [] }\norganizations: [acme]", []],
  ])("give an organization %s", async (_rule, text, receivers) => {
    const config = await load(`${embedded}${text}\nreceivers: [{ name: a, type: log }, { name: b, type: log }]\n`);

    expect(organization(config, "acme").receivers.map(({ name }) => name)).toEqual(receivers);
  });

  it("take a key with nothing after it for absent", async () => {
    const config = await load(
      `source:\n  type: embedded\n  concurrency:\norganizations: [acme]\ndefaults:\nserver:\n  token:\nlog:\n`,
    );

    expect(config).toMatchObject({ source: { concurrency: 16 }, server: { token: null }, log: { level: "info" } });
  });
});

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

  it("stay strings where strings are wanted", async () => {
    const config = await load(`${embedded}organizations:\n  - \${SLUG}\n`, { SLUG: "123" });

    expect(config.organizations[0]?.slug).toBe("123");
  });

  it.each([
    ["set", "token", { TOKEN: "token" }, "token"],
    ["empty: none", null, { TOKEN: "" }, null],
    ["unset: none", null, {}, null],
  ])("make a token that is %s", async (_rule, _value, env, expected) => {
    const config = await load(`${embedded}organizations: [acme]\nserver: { token: "\${TOKEN:-}" }\n`, env);

    expect(config.server.token?.reveal() ?? null).toBe(expected);
  });
});

describe("secrets", () => {
  it("are read from files relative to the file that names them, without the line end", async () => {
    await write("conf.d/acme.yaml", "organizations: [{ slug: acme, apiKeyFile: acme.key }]\n");
    await write("conf.d/acme.key", "own\r\n");
    await write("secrets/hook", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\n");
    await write("secrets/old", "sixteen bytes xx\n");
    await write("secrets/url", "https://hooks.example.com/T0/B0\n");
    await write("secrets/headers", "Authorization: Bearer x:y\n\nX-Team: trust\n");
    const config = await load(`${embedded}include: conf.d/*.yaml
receivers:
  - { name: hook, type: webhook, urlFile: secrets/url, secretFile: [secrets/hook, secrets/old], headersFile: secrets/headers }
heartbeat: { urlFile: secrets/url }
`);

    const [receiver] = config.receivers;

    if (receiver?.type !== "webhook") throw new Error("no webhook");
    expect(organization(config, "acme").apiKey?.reveal()).toBe("own");
    expect(receiver.url.reveal()).toBe("https://hooks.example.com/T0/B0");
    expect(receiver.secrets.map((secret) => secret.reveal())).toEqual([
      "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3",
      "sixteen bytes xx",
    ]);
    expect(Object.entries(receiver.headers).map(([name, value]) => [name, value.reveal()])).toEqual([
      ["authorization", "Bearer x:y"],
      ["x-team", "trust"],
    ]);
    expect(config.heartbeat?.url.reveal()).toBe("https://hooks.example.com/T0/B0");
    expect(config.files).toEqual(
      [
        "flatline.yaml",
        "conf.d/acme.yaml",
        "conf.d/acme.key",
        "secrets/url",
        "secrets/hook",
        "secrets/old",
        "secrets/headers",
      ].map((file) => join(folder, file)),
    );
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
    const text = `${embedded}organizations: [acme]\nreceivers: [{ name: a, type: webhook, url: "https://x.example", secret: "${secret}" }]\n`;

    const outcome = await load(text).then(
      () => "right",
      () => "wrong",
    );

    expect(outcome).toBe(isRight ? "right" : "wrong");
  });

  it("that a file holds are checked like those in the configuration, unseen", async () => {
    await write("url", "hooks.example.com/hush\n");

    const problems = await problemsOf(
      `${embedded}organizations: [acme]\nreceivers: [{ name: a, type: slack, urlFile: url }]\n`,
    );

    expect(problems).toEqual([
      "flatline.yaml:3:46: receivers[0].urlFile: what the file holds must be an address that begins with http:// or https://",
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
    spawnSync("mkfifo", [join(folder, "pipe")]);
    await symlink("pipe", join(folder, "linked-pipe"));
    await symlink("nowhere", join(folder, "dangling"));
    await write("large", "x".repeat(65_537));

    const problems = await problemsOf(
      `source: { baseUrl: "https://a.example", apiKeyFile: ${name} }\norganizations: [a]\n`,
    );

    expect(problems).toEqual([`flatline.yaml:1:53: source.apiKeyFile: the file ${resolve(folder, name)} ${reason}`]);
  });

  it("are read from what Kubernetes mounts, and from what a shell redirects", async () => {
    await write("..2026_11_22/key", "mounted-key\n");
    await symlink("..2026_11_22", join(folder, "..data"));
    await symlink("..data/key", join(folder, "key"));
    await using redirected = await open(join(folder, "key"));

    for (const name of ["key", `/proc/self/fd/${redirected.fd}`]) {
      const config = await load(`source: { baseUrl: "https://a.example", apiKeyFile: ${name} }\norganizations: [a]\n`);
      expect(config.source.type === "remote" && config.source.apiKey?.reveal()).toBe("mounted-key");
    }
  });
});

describe("files", () => {
  it("that are included are read by name, each once, after the main one", async () => {
    await write("conf.d/b.yaml", "organizations: [b]\n");
    await write("conf.d/a.yaml", "organizations: [a]\n");
    await write("conf.d/c.yml", "organizations: [c]\n");
    await write("conf.d/empty.yaml", "# nothing\n");

    const config = await load(`${embedded}organizations: [main]\ninclude: [conf.d/*.yaml, conf.d/a.yaml, "*.yaml"]\n`);

    expect(config.organizations.map(({ slug }) => slug)).toEqual(["main", "a", "b"]);
    expect(organization(config, "b").setAt).toEqual({ "": "conf.d/b.yaml:1" });
  });

  it("are shown as they were named", async () => {
    await write("etc/flatline.yaml", `${embedded}include: conf.d/*.yaml\n`);
    await write("etc/conf.d/a.yaml", "organizations: [{}]\n");
    const messageOf = (path: string): Promise<string> =>
      loadConfig({ path, cwd: folder, env: {} }).then(
        () => "",
        (error: Error) => error.message,
      );

    expect(await messageOf("etc/flatline.yaml")).toContain(
      "\netc/conf.d/a.yaml:1:17: organizations[0].slug: is required",
    );
    expect(await messageOf(join(folder, "etc/flatline.yaml"))).toContain(`\n${folder}/etc/conf.d/a.yaml:1:17: `);
  });

  it("of the preload are relative to the file, the store's to nothing yet", async () => {
    const config = await load(
      `source: { type: embedded, preload: [{ events: data/e.csv.gz, rebase: true }, { fixture: /f.yaml }] }\norganizations: [a]\nstorage: { path: x.db }\n`,
    );

    expect(config.source).toMatchObject({
      preload: [
        { kind: "events", path: join(folder, "data/e.csv.gz"), rebase: true },
        { kind: "fixture", path: "/f.yaml" },
      ],
    });
    expect(config.storage.path).toBe("x.db");
  });

  it("that are missing are named", async () => {
    await expect(loadConfig({ path: "none.yaml", cwd: folder, env: {} })).rejects.toMatchObject({
      code: "invalid_config",
      exitCode: 78,
      message: "the configuration file none.yaml does not exist",
    });
  });

  it.each([
    ["too deeply for the parser", "a: ".padEnd(200_000, "[")],
    ["too deeply for us", `${embedded}organizations: ${"[".repeat(100)}${"]".repeat(100)}\n`],
  ])("that are nested %s are refused", async (_rule, text) => {
    expect((await problemsOf(text)).join("\n")).toContain("is nested too deeply");
  });

  it("that are no UTF-8 are refused", async () => {
    await writeFile(join(folder, "flatline.yaml"), Buffer.from([0xff, 0xfe, 0x00]));

    await expect(loadConfig({ path: "flatline.yaml", cwd: folder, env: {} })).rejects.toThrow(
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
    const acme = organization(config, "acme");

    for (const part of [config, config.organizations, acme, acme.labels, acme.thresholds, config.source]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it("knows where each organization says what", async () => {
    const config = await load(`${embedded}
organizations:
  - acme
  - slug: globex
    thresholds:
      failMultiplier: 6
    labels: { team.name: trust }
`);

    expect(organization(config, "globex").setAt).toEqual({
      "": "flatline.yaml:5",
      slug: "flatline.yaml:5",
      "thresholds.failMultiplier": "flatline.yaml:7",
      'labels["team.name"]': "flatline.yaml:8",
    });
  });

  it("knows where what an organization does not say is said: in defaults, which it goes before", async () => {
    const config = await load(`${embedded}
defaults:
  thresholds: { failMultiplier: 5, windowHours: 12 }
organizations:
  - slug: globex
    thresholds: { failMultiplier: 6 }
`);

    expect(organization(config, "globex").setAt).toEqual({
      "": "flatline.yaml:6",
      slug: "flatline.yaml:6",
      "thresholds.failMultiplier": "flatline.yaml:7",
      "thresholds.windowHours": "flatline.yaml:4",
    });
  });

  it("has silences that are fixed or recurring", async () => {
    const config = await load(`${embedded}organizations: [acme]
silences:
  - { slug: acme, startsAt: 2026-01-01T00:00:00Z, endsAt: 2026-01-02T01:00:00+01:00, comment: migration }
  - { check: "dead-*", labels: { team: trust }, schedule: "0 2 * * 6", duration: 2h, timezone: Europe/Berlin }
`);

    expect(config.silences).toEqual([
      {
        kind: "fixed",
        slug: "acme",
        startsAtMs: Date.UTC(2026, 0, 1),
        endsAtMs: Date.UTC(2026, 0, 2),
        comment: "migration",
      },
      {
        kind: "recurring",
        check: "dead-*",
        labels: { team: "trust" },
        schedule: "0 2 * * 6",
        durationMs: 7_200_000,
        timezone: "Europe/Berlin",
        comment: "",
      },
    ]);
  });

  it("has receivers of every type", async () => {
    const config = await load(`${embedded}organizations: [acme]
receivers:
  - { name: a, type: webhook, url: "https://a.example", minSeverity: fail, rateLimit: 30/m, match: { slug: "ac*" } }
  - { name: b, type: alertmanager, url: ["http://am-0:9093", "http://am-1:9093"] }
  - { name: c, type: pagerduty, routingKey: routing-key, sendUnknown: true, minSeverity: fail }
  - { name: d, type: msteams, url: "https://d.example", timeout: 5s, maxAge: 1h, sendResolved: false }
  - { name: e, type: email, url: "smtps://me:pw@mail.example.com", from: "flatline <f@example.com>", to: [ops@example.com] }
  - { name: f, type: log }
`);

    expect(JSON.parse(JSON.stringify(config.receivers))).toMatchObject([
      {
        type: "webhook",
        secrets: [],
        format: "flatline",
        template: null,
        minSeverity: "fail",
        sendUnknown: false,
        rateLimit: { count: 30, perMs: 60_000 },
        match: { slug: "ac*" },
      },
      { type: "alertmanager", urls: ["***", "***"], resendIntervalMs: 60_000, sendUnknown: true },
      { type: "pagerduty", url: "***", routingKey: "***", sendUnknown: true },
      { type: "msteams", timeoutMs: 5_000, maxAgeMs: 3_600_000, sendResolved: false },
      { type: "email", from: "flatline <f@example.com>", recipients: ["ops@example.com"] },
      { type: "log", minSeverity: "warn", sendResolved: true, timeoutMs: 10_000, maxAgeMs: 86_400_000, match: null },
    ]);
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

  it("refuses a FLATLINE_LISTEN that is no address", async () => {
    expect(await problemsOf(`${embedded}organizations: [acme]\n`, { FLATLINE_LISTEN: "9640" })).toEqual([
      'flatline.yaml:1:1: server.listen: $FLATLINE_LISTEN must be HOST:PORT such as "127.0.0.1:9640" or "[::1]:9640"',
    ]);
  });

  it("may keep events exactly as long as the longest window and baseline", async () => {
    const config = await load(`${embedded}organizations: [acme]\nstorage: { eventRetention: 8d }\n`);

    expect(config.storage.eventRetentionMs).toBe(691_200_000);
  });

  it("of ten thousand organizations is read within seconds", async () => {
    const lines = Array.from(
      { length: 10_000 },
      (_, index) => `  - { slug: org-${index}, thresholds: *t, schedule: "${index % 60} * * * *" }`,
    );
    const text = `${embedded}defaults: { thresholds: &t { failMultiplier: 6 } }\norganizations:\n${lines.join("\n")}\n`;

    const config = await load(text);

    expect(config.organizations).toHaveLength(10_000);
  }, 20_000);
});

describe("findConfigPath", () => {
  const find = (flag: string | undefined, env: Environment): Promise<string> =>
    findConfigPath({ flag, env, cwd: folder });

  it.each([
    ["-c before all", "a.yaml", { FLATLINE_CONFIG: "b.yaml" }, "a.yaml"],
    ["$FLATLINE_CONFIG before the file here", undefined, { FLATLINE_CONFIG: "b.yaml" }, "b.yaml"],
    ["the file here, with an empty variable too", undefined, { FLATLINE_CONFIG: "" }, "flatline.yaml"],
  ])("takes %s", async (_rule, flag, env, expected) => {
    await write("flatline.yaml", embedded);

    expect(await find(flag, env)).toBe(expected);
  });

  it("says where it looked", async () => {
    await expect(find(undefined, {})).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining("neither ./flatline.yaml nor /etc/flatline/flatline.yaml exists") as string,
    });
  });
});

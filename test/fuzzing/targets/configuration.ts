import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { parse } from "yaml";

import { asFlatlineError } from "../../../src/base/errors.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/config.ts";
import { describeConfig, renderConfig } from "../../../src/config/render.ts";
import { badConfigurations } from "../../support/bad-configurations.ts";
import { runCli } from "../../support/program/cli-run.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedText } from "../mutate.ts";
import { complaintsOfText } from "../promises.ts";
import { treeOf } from "../tree.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const testdata = `${root}src/config/testdata/`;
const env = {
  FLATLINE_API_KEY: "hush-key",
  SLACK_WEBHOOK_URL: "https://slack.example/hush",
  HOOK_SECRET: "hush-hush-hush-hush",
  FLATLINE_TOKEN: "hush-token",
};

/** A configuration: is refused with places and without a stack, or means the same when it is shown and read again. */
export const configurationTarget: Target = { name: "configuration", tries: 60, open };

async function open(): Promise<OpenTarget> {
  const folder = await makeProgramFolder();
  const whole = [
    readFileSync(`${root}config.example.yaml`, "utf8"),
    ...withoutFiles(readFileSync(`${testdata}every-key.yaml`, "utf8")).split(/^---$/m),
    ownSources,
  ];
  const bad = badConfigurations().flatMap(({ all }) => all);
  const texts = [...whole, ...whole, ...whole, ...bad.map(({ text }) => text)];
  let accepted = 0;

  async function load(): Promise<Config | string> {
    try {
      return await loadConfig({ path: "flatline.yaml", cwd: folder.path, env });
    } catch (error) {
      const { code, message, stack } = asFlatlineError(error);
      return code === "invalid_config" ? message : `unexpected ${code}: ${message}\n${stack ?? ""}`;
    }
  }

  async function attempt(text: Buffer): Promise<readonly string[]> {
    await folder.write("flatline.yaml", text);
    const config = await load();
    const checked = await runCli(["config", "check"], { cwd: folder.path, env });
    const complaints = [...complaintsOfText(checked.stderr), ...complaintsOfText(checked.stdout)];
    if (typeof config === "string") {
      if (config.startsWith("unexpected")) complaints.push(config);
      if (checked.exitCode !== 78)
        complaints.push(`config check exits with ${checked.exitCode}, and it cannot be loaded`);
      return complaints;
    }
    accepted++;
    if (checked.exitCode !== 0) complaints.push(`config check exits with ${checked.exitCode}: ${checked.stderr}`);
    const described = describeConfig(config);
    const shown = renderConfig(config);
    if (shown.includes("hush") && areSecretsPlaced(text.toString())) complaints.push("config show shows a secret");
    // What is a secret is shown as ***, which is not what it means.
    if (shown.includes("***")) return complaints;
    await folder.write("flatline.yaml", shown);
    const again = await load();
    if (typeof again === "string") complaints.push(`what config show prints is refused: ${again}`);
    else if (JSON.stringify(describeConfig(again)) !== JSON.stringify(described))
      complaints.push("what config show prints means something else");
    return complaints;
  }

  return untyped({
    inputs: mutatedText(
      whole.map((text) => treeOf(parse(text))),
      texts,
    ),
    attempt,
    show: (text: Buffer) => text.toString(),
    accepted: () => accepted,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  });
}

/** Whether each secret stands under a key that is one: what is copied elsewhere is no secret there. */
function areSecretsPlaced(text: string): boolean {
  const all = text.match(/\$\{(?:FLATLINE_|SLACK_|HOOK_)|hush-hush-hush-hush/g) ?? [];
  const placed =
    text.match(/\b(?:apiKey|url|secret|token|routingKey)"?: *"?(?:\$\{(?:FLATLINE_|SLACK_|HOOK_)|hush-)/g) ?? [];
  return all.length === placed.length;
}

/** Secrets of files are written down. */
function withoutFiles(text: string): string {
  const values = text.replaceAll(/File: secrets\/[\w-]+/g, ": hush-hush-hush-hush");
  return values.replaceAll("headers: hush-hush-hush-hush", "headers: {}");
}

const ownSources = `
source: { type: embedded, preload: [{ events: events.csv, rebase: true }, { fixture: fixture.yaml }] }
defaults:
  schedule: "0 0-23/2 1,15 * MON-FRI"
  timezone: Europe/Berlin
  jitter: 30s
  whenNoEvents: ok
  regret: { minDeaths: 30, window: 12h, maturity: 2d }
  gate: { releaseOn: [judged, acknowledged], whenUnknown: hold }
  alert: { for: 5m, keepFiringFor: 1h, unknownAfter: 2, repeatInterval: 0s, minBaselineCoverage: 0.5 }
  labels: { team: "a: b # c", price: $$5 }
organizations: [acme, { slug: globex, baseline: median, baselineExclude: judged, sample: false }, { slug: "123", schedule: "@hourly" }]
discover:
  - { name: fleet, url: "https://fleet.example/sd", refreshInterval: 1m, maxOrganizations: 10, organization: { labels: { from: fleet } } }
  - { name: list, file: list.json }
alerting: { groupWait: 0s, groupInterval: 1s, fleet: false, sample: 0, externalUrl: "https://flatline.example.com/sub/" }
receivers:
  - { name: console, type: log, rateLimit: 30/m, match: { slug: "eu-*", check: "*", labels: { team: x } } }
  - { name: templated, type: webhook, url: "https://hook.example/a", template: '{"n": {{ alerts.size }}}', contentType: application/json, maxAge: 1h }
  - { name: bridge, type: webhook, url: "https://hook.example/b", sendActs: true, headers: { x-team: trust } }
  - { name: am, type: alertmanager, url: ["http://a:9093", "http://b:9093"], resendInterval: 2m }
  - { name: mail, type: email, from: "flatline <f@example.org>", to: [a@example.org, b@example.org], url: "smtp://mail.example:25" }
silences:
  - { schedule: "0 2 * * 6", duration: 2h, timezone: UTC, slug: acme, comment: each week }
server:
  listen: "[::1]:0"
  publicRead: false
  trustedProxy: { from: [10.0.0.0/8, "::1/128"], may: { ops: [read, operate] }, organizations: { ops: ["eu-*"] } }
storage: { path: flatline.db, retention: 30d, auditRetention: 400d, eventRetention: 60d }
`;

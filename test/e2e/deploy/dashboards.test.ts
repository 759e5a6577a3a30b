import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  type DashboardModel,
  type DashboardQuery,
  labelQuery,
  queriesOf,
  withVariables,
} from "../../support/dashboard-queries.ts";
import { type Daemon, eventually, startDaemon } from "../../support/program/program.ts";
import { type Prometheus, prometheusTool, type Sample, startPrometheus } from "../../support/prometheus.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const dashboards = await Promise.all(
  ["fleet", "flatline"].map(
    async (name) => JSON.parse(await readFile(join(root, "dashboards", `${name}.json`), "utf8")) as DashboardModel,
  ),
);
const queries = dashboards.flatMap(queriesOf);
/** A remote source has them, the example has not. */
const isRemoteOnly = ({ expr }: DashboardQuery): boolean => expr.includes("flatline_source_requests_total");

describe.skipIf(prometheusTool.isMissing)(`over a real Prometheus${prometheusTool.note}`, () => {
  let folder: string;
  let upstream: ScriptedUpstream;
  let daemons: readonly Daemon[] = [];
  let prometheus: Prometheus;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "flatline-dashboards-"));
    upstream = await startScriptedUpstream();
    upstream.otherwise(({ path, body }) => {
      if (!path.includes("healthchecks")) return { kind: "answer", body: { reports: [] } };
      const { slug } = JSON.parse(body) as { slug: string };
      return slug === "broken" ? { kind: "answer", status: 500 } : { kind: "answer", body: resultOf(slug) };
    });
    daemons = await Promise.all([
      startFlatline(folder, "example", {
        source: {
          type: "embedded",
          preload: [
            { events: join(root, "examples/events.csv.gz"), rebase: true },
            { fixture: join(root, "examples/fixture.yaml") },
          ],
        },
        organizations: [
          {
            slug: "ads-hosts",
            sentinel: { assets: ["known-to-be-alive"], schedule: "* * * * * *" },
            eventFlow: { enabled: true, schedule: "* * * * * *", maxCoverageDrop: 1 },
            // Nothing in the example is as old as the usual maturity.
            regret: { window: "1h", maturity: "6h", minDeaths: 1, warnAbove: 1, failAbove: 1 },
          },
          "adware-hosts",
          { slug: "risk-hosts", baseline: "median" },
          "tracker-hosts",
        ],
        defaults: { reviewQueue: { enabled: true, schedule: "* * * * * *" } },
      }),
      startFlatline(folder, "remote", {
        source: { type: "remote", baseUrl: upstream.baseUrl, apiKey: "a-key-for-tests", retries: 0 },
        organizations: ["foreign", "empty", "broken"],
      }),
    ]);
    const [example, remote] = daemons.map(({ url }) => new URL(url).host);
    prometheus = await startPrometheus({ example: example ?? "", remote: remote ?? "" }, [
      join(root, "dashboards/rules/flatline.rules.yaml"),
    ]);
    const headers = { "X-API-KEY": "example-key-ads" };
    await fetch(`${daemons[0]?.url}/api/v2/organization/reports`, { headers });
  });

  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    for (const daemon of daemons) await daemon.kill();
    await upstream?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** As Grafana asks for it, for one job and organization. */
  function ask({ expr, isInstant }: DashboardQuery, job: string, slug: string): Promise<Sample[]> {
    const filled = withVariables(expr, { job, slug, instance: ".*", __rate_interval: "5s" });
    return isInstant ? prometheus.query(filled) : prometheus.queryRange(filled);
  }

  const hasData = (samples: readonly Sample[]): boolean => samples.some(({ value }) => !Number.isNaN(value));

  it("has values for every variable", async () => {
    const variables = dashboards.flatMap(({ templating }) => templating.list).filter(({ type }) => type === "query");

    for (const variable of variables) {
      const { match, label } = labelQuery(variable);
      const values = await eventually(async () => {
        const found = await prometheus.labelValues(label, withVariables(match, { job: ".*" }));
        return found.length > 0 && found;
      });
      expect(values, variable.name).not.toEqual([]);
    }
  });

  it.each(queries.filter((query) => query.kind === "panel" && !isRemoteOnly(query)))(
    "has data of the example: $where",
    async (query) => {
      const samples = await eventually(async () => {
        const found = await ask(query, "example", "ads-hosts");
        return hasData(found) && found;
      });

      expect(hasData(samples)).toBe(true);
    },
  );

  it.each(queries.filter(isRemoteOnly))("has data of a remote source: $where", async (query) => {
    const samples = await eventually(async () => {
      const found = await ask(query, "remote", ".*");
      return hasData(found) && found;
    });

    expect(samples.map(({ labels }) => labels["code"])).toEqual(expect.arrayContaining(["200", "500"]));
  });

  it.each(["foreign", "empty", "broken"])("asks nothing that fails of a service with other keys: %s", async (slug) => {
    for (const query of queries) await expect(ask(query, "remote", slug), query.where).resolves.toBeInstanceOf(Array);
  });

  it("annotates what people marked, at the millisecond at which they did it", async () => {
    const annotation = queries.find(({ where }) => where.includes("annotation Markers"));
    if (annotation === undefined) throw new Error("no annotation");
    const at = "2026-01-15T09:00:00.000Z";
    const recent = new Date(Date.now() - 60_000).toISOString();
    for (const marker of [
      { text: "captcha rollout", at: recent },
      { text: "of another", at: recent, slug: "risk-hosts" },
      { text: "long ago", at },
    ]) {
      const made = await fetch(`${daemons[0]?.url}/api/v1/markers`, {
        method: "POST",
        headers: { authorization: "Bearer a-token-of-the-tests", "content-type": "application/json" },
        body: JSON.stringify(marker),
      });
      expect(made.status).toBe(201);
    }

    const samples = await eventually(async () => {
      const found = await ask(annotation, "example", "ads-hosts");
      return found.length > 0 && found;
    });

    expect(samples).toEqual([{ labels: { marker: "captcha rollout" }, value: Date.parse(recent) }]);
  });

  it("evaluates every rule; those that record have data, those that alert fire for what fails", async () => {
    const rules = await eventually(async () => {
      const found = await prometheus.rules();
      return found.length > 0 && found.every(({ health }) => health === "ok") && found;
    });
    const firing = async (): Promise<string[]> =>
      (await prometheus.rules()).filter(({ state }) => state === "firing").map(({ name }) => name);

    expect(rules.map(({ lastError }) => lastError ?? "").join("")).toBe("");
    for (const { name } of rules.filter((rule) => rule.name.includes(":")))
      await eventually(async () => hasData(await prometheus.query(name)));
    await expect
      .poll(firing)
      .toEqual(expect.arrayContaining(["FlatlineDeadAssetSpikeFail", "FlatlineDeadAssetSpikeWarn"]));
    expect(await firing()).not.toContain("FlatlineAbsent");
  });
});

/** The built program: each check each second, each alert told again each second. */
function startFlatline(folder: string, name: string, config: object): Promise<Daemon> {
  const { defaults = {}, ...rest } = config as { readonly defaults?: object };
  const file = join(folder, `${name}.yaml`);
  const text = JSON.stringify({
    ...rest,
    defaults: { schedule: "* * * * * *", alert: { repeatInterval: "1s" }, ...defaults },
    alerting: { groupWait: "0s", groupInterval: "1s" },
    receivers: [{ name: "console", type: "log" }],
    server: { listen: "127.0.0.1:0", token: "a-token-of-the-tests" },
    storage: { path: join(folder, `${name}.db`) },
  });
  return writeFile(file, text).then(() => startDaemon(["-c", file], { cwd: folder }));
}

/** A result of API v2 whose maps have keys that nobody knows, or none. */
function resultOf(slug: string): object {
  const severity = slug === "foreign" ? "fail" : "warn";
  return {
    id: "some-check",
    title: "Some check",
    category: "assets",
    generatedAt: new Date().toISOString(),
    scope: { slug },
    ok: false,
    severity,
    observed: slug === "foreign" ? { gone: 40, isOdd: true, note: "text" } : {},
    threshold: slug === "foreign" ? { most: 9 } : {},
    findings: [{ kind: "some-kind", ref: slug, severity, message: "more than usual" }],
    suggestedAction: null,
    appUrl: null,
  };
}

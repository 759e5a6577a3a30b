import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { errorKinds } from "../../../src/base/errors.ts";
import { debianTool } from "../../support/debian-tool.ts";
import { runProgram } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const deploy = join(root, "deploy");
const read = (path: string): Promise<string> => readFile(join(deploy, path), "utf8");
const dockerfile = await readFile(join(root, "Dockerfile"), "utf8");

const promtool = debianTool("promtool", "prometheus");
const amtool = debianTool("amtool", "prometheus-alertmanager");
const systemdAnalyze = debianTool("systemd-analyze", "systemd");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-deploy-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Service {
  readonly build?: string;
  readonly volumes: readonly string[];
  readonly ports: readonly string[];
}
const compose = parse(await read("compose/compose.yaml")) as {
  readonly services: Readonly<Record<"flatline" | "prometheus" | "alertmanager" | "grafana", Service>>;
};

interface Mount {
  readonly source: string;
  readonly target: string;
}

function mountsOf(name: keyof typeof compose.services): Mount[] {
  return compose.services[name].volumes.map((volume) => {
    const [source = "", target = ""] = volume.split(":");
    return { source, target };
  });
}

describe("deploy/compose", () => {
  it("runs flatline as the image is meant: read-only, without capabilities, its data in the volume", async () => {
    const { flatline } = compose.services;

    expect(flatline).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      tmpfs: ["/tmp"],
    });
    expect(mountsOf("flatline")).toContainEqual({ source: "flatline", target: "/data" });
    expect(dockerfile).toContain("VOLUME /data");
    expect(resolve(deploy, "compose", flatline.build ?? "")).toBe(resolve(root));
    for (const { ports } of Object.values(compose.services))
      expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it("has a flatline.yaml that flatline accepts, with all that it names mounted", async () => {
    const place = join(folder, "etc-flatline");
    for (const { source, target } of mountsOf("flatline").filter((mount) => mount.target.startsWith("/etc/flatline/")))
      await cp(join(deploy, "compose", source), join(place, target.slice("/etc/flatline/".length)), {
        recursive: true,
      });

    const checked = await runProgram(["config", "check", "-c", "flatline.yaml"], { cwd: place });

    expect([checked.exitCode, checked.stderr]).toEqual([0, ""]);
    expect(checked.stdout).toContain("4 organizations, 2 receivers");
  });

  it.skipIf(promtool.isMissing)(
    `has a prometheus.yml that promtool accepts, rules included${promtool.note}`,
    async () => {
      const place = join(folder, "etc-prometheus");
      for (const { source, target } of mountsOf("prometheus").filter((mount) => mount.source.startsWith(".")))
        await cp(join(deploy, "compose", source), join(place, target.slice("/etc/prometheus/".length)));

      const { status, stdout } = promtool.run(["check", "config", "--lint=all", "prometheus.yml"], place);

      expect([status, stdout]).toEqual([0, expect.stringContaining("1 rule files found")]);
    },
  );

  it.skipIf(amtool.isMissing)(`has an alertmanager.yml that amtool accepts${amtool.note}`, () => {
    expect(amtool.run(["check-config", "alertmanager.yml"], join(deploy, "compose")).status).toBe(0);
  });

  it("does not page twice: what flatline tells Alertmanager, Prometheus keeps to itself", async () => {
    const config = parse(await read("compose/prometheus.yml")) as {
      readonly alerting: { readonly alert_relabel_configs: readonly { readonly regex: string }[] };
    };
    const rules = await readFile(join(root, "dashboards/rules/flatline.rules.yaml"), "utf8");
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
    const dropped = new RegExp(`^(?:${config.alerting.alert_relabel_configs[0]?.regex ?? ""})$`);

    expect(alerts.filter((name) => dropped.test(name))).toEqual([
      "FlatlineDeadAssetSpikeFail",
      "FlatlineDeadAssetSpikeWarn",
      "FlatlineReviewQueueWaiting",
      "FlatlineSentinelDead",
      "FlatlineEventFlowLow",
      "FlatlineRegretHigh",
      "FlatlineHealthcheckNotOk",
      "FlatlineIncident",
      "FlatlineFleetSpike",
    ]);
  });
});

describe("deploy/systemd", () => {
  it.skipIf(systemdAnalyze.isMissing)(
    `has a unit that systemd accepts, and finds safe${systemdAnalyze.note}`,
    async () => {
      const unit = await read("systemd/flatline.service");
      // systemd looks whether the program is there.
      await writeFile(join(folder, "flatline.service"), unit.replace("/usr/local/bin/flatline", "/bin/true"));

      const verified = systemdAnalyze.run(["verify", "./flatline.service"], folder);
      const security = systemdAnalyze.run(
        ["security", "--offline=true", "--threshold=20", "./flatline.service"],
        folder,
      );

      expect([verified.status, verified.stderr, verified.stdout]).toEqual([0, "", ""]);
      expect(security.status, security.stdout).toBe(0);
    },
  );

  it("is started again after a port that was taken, and not after wrong usage or a wrong configuration", async () => {
    const unit = await read("systemd/flatline.service");
    const final = (/^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1] ?? "").split(" ").map(Number);

    expect(unit).toMatch(/^Restart=on-failure$/m);
    expect(final).not.toContain(errorKinds.unavailable.exitCode);
    // systemd gives up after five starts within ten seconds, unless the unit says otherwise.
    expect(unit).not.toContain("StartLimit");
    expect(5 * Number(/^RestartSec=(\d+)s$/m.exec(unit)?.[1])).toBeGreaterThan(10);
    expect(final).toEqual([errorKinds.usage.exitCode, errorKinds.invalid_config.exitCode]);
  });
});

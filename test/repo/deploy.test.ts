import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";

import { errorKinds } from "../../src/base/errors.ts";
import { debianTool } from "../support/debian-tool.ts";
import { runProgram } from "../support/program/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
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

const path = z.string().min(1);
const service = z.strictObject({
  build: path.optional(),
  image: z.string().regex(/^[\w./-]+:[\w.-]+$/),
  command: z.array(z.string()).optional(),
  restart: z.literal("unless-stopped"),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  tmpfs: z.array(path).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(?::ro)?$/)),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/)),
  stop_grace_period: z.string().optional(),
});
const composeSchema = z.strictObject({
  name: z.literal("flatline"),
  services: z.strictObject({ flatline: service, prometheus: service, alertmanager: service, grafana: service }),
  volumes: z.record(z.string(), z.null()),
});
const compose = composeSchema.parse(parse(await read("compose/compose.yaml")));

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
  it("mounts files that there are, and volumes that it declares", async () => {
    const mounts = Object.keys(compose.services).flatMap((name) => mountsOf(name as keyof typeof compose.services));
    const files = mounts.filter(({ source }) => source.startsWith("."));
    const volumes = mounts.filter(({ source }) => !source.startsWith("."));

    for (const { source } of files) await expect(stat(join(deploy, "compose", source)), source).resolves.toBeDefined();
    expect(volumes.map(({ source }) => source).toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
  });

  it("pins every image", () => {
    const tags = Object.values(compose.services).map(({ image }) => image.split(":")[1]);

    expect(tags.filter((tag) => tag === "latest")).toEqual([]);
  });

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
    expect(flatline.ports).toEqual(["127.0.0.1:9640:9640"]);
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

  it("lets each reach the others by their names and ports", async () => {
    const ports = Object.fromEntries(
      Object.entries(compose.services).map(
        ([
          name,
          {
            ports: [port = ""],
          },
        ]) => [name, port.split(":")[2]],
      ),
    );
    const texts = await Promise.all(
      ["flatline.yaml", "prometheus.yml", "grafana/provisioning/datasources/prometheus.yaml"].map((name) =>
        read(`compose/${name}`),
      ),
    );
    const named = texts.join("\n").match(/\b(?:flatline|prometheus|alertmanager|grafana):\d+/g) ?? [];

    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((one) => ports[one.split(":")[0] ?? ""] !== one.split(":")[1])).toEqual([]);
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
      "FlatlineFleetSpike",
    ]);
  });

  it("provisions Grafana whole: the data source, every dashboard, the fleet as home, and no login", async () => {
    const { datasources } = parse(await read("compose/grafana/provisioning/datasources/prometheus.yaml")) as {
      readonly datasources: readonly object[];
    };
    const { providers } = parse(await read("compose/grafana/provisioning/dashboards/flatline.yaml")) as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    const made = (await readdir(join(root, "dashboards"))).filter((name) => name.endsWith(".json"));
    const mounted = mountsOf("grafana").filter(({ target }) => dirname(target) === providers[0]?.options.path);
    const environment = compose.services.grafana.environment ?? {};

    expect(datasources).toMatchObject([{ type: "prometheus", isDefault: true, url: "http://prometheus:9090" }]);
    expect(mounted.map(({ source }) => source).toSorted()).toEqual(
      made.map((name) => `../../dashboards/${name}`).toSorted(),
    );
    expect(mounted.map(({ target }) => target)).toContain(environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]);
    expect(environment).toMatchObject({ GF_AUTH_ANONYMOUS_ENABLED: "true", GF_AUTH_ANONYMOUS_ORG_ROLE: "Viewer" });
  });
});

const name = z.literal("flatline");
const labels = z.object({ "app.kubernetes.io/name": name });
const metadata = z.strictObject({ name, labels });
const probe = (route: string): z.ZodType =>
  z.object({ httpGet: z.strictObject({ path: z.literal(route), port: z.literal("http") }), periodSeconds: z.number() });
const container = z.strictObject({
  name,
  image: z.string().regex(/^flatline:\d+\.\d+\.\d+$/),
  args: z.tuple([z.literal("run"), z.literal("--watch")]),
  ports: z.tuple([z.strictObject({ name: z.literal("http"), containerPort: z.literal(9640) })]),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal("ALL")]) }),
  }),
  resources: z.object({ requests: z.object({ memory: z.string() }), limits: z.object({ memory: z.string() }) }),
  startupProbe: probe("/-/ready"),
  readinessProbe: probe("/-/ready"),
  livenessProbe: probe("/-/healthy"),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: path, readOnly: z.boolean().optional() })),
});
const pod = z.strictObject({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: z.number().min(10),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.literal(1000),
    runAsGroup: z.literal(1000),
    fsGroup: z.literal(1000),
    seccompProfile: z.strictObject({ type: z.literal("RuntimeDefault") }),
  }),
  containers: z.tuple([container]),
  volumes: z.array(
    z.union([
      z.strictObject({ name: z.literal("config"), configMap: z.strictObject({ name }) }),
      // 0440: fsGroup reads it.
      z.strictObject({
        name: z.literal("secrets"),
        secret: z.strictObject({ secretName: name, defaultMode: z.literal(0o440) }),
      }),
      z.strictObject({ name: z.literal("data"), persistentVolumeClaim: z.strictObject({ claimName: name }) }),
      z.strictObject({ name: z.literal("tmp"), emptyDir: z.strictObject({ sizeLimit: z.string() }) }),
    ]),
  ),
});
const of = <Shape extends z.ZodRawShape>(apiVersion: string, kind: string, shape: Shape) =>
  z.strictObject({ apiVersion: z.literal(apiVersion), kind: z.literal(kind), metadata, ...shape });
const manifests = {
  "configmap.yaml": of("v1", "ConfigMap", { data: z.strictObject({ "flatline.yaml": z.string() }) }),
  "secret.yaml": of("v1", "Secret", { type: z.literal("Opaque"), stringData: z.record(z.string(), z.string()) }),
  "pvc.yaml": of("v1", "PersistentVolumeClaim", {
    spec: z.strictObject({
      accessModes: z.tuple([z.literal("ReadWriteOnce")]),
      resources: z.object({ requests: z.object({ storage: z.string() }) }),
    }),
  }),
  "deployment.yaml": of("apps/v1", "Deployment", {
    spec: z.strictObject({
      replicas: z.literal(1),
      strategy: z.strictObject({ type: z.literal("Recreate") }),
      selector: z.strictObject({ matchLabels: labels }),
      template: z.strictObject({ metadata: z.strictObject({ labels }), spec: pod }),
    }),
  }),
  "service.yaml": of("v1", "Service", {
    spec: z.strictObject({
      selector: labels,
      ports: z.tuple([
        z.strictObject({ name: z.literal("http"), port: z.literal(9640), targetPort: z.literal("http") }),
      ]),
    }),
  }),
  "servicemonitor.yaml": of("monitoring.coreos.com/v1", "ServiceMonitor", {
    spec: z.strictObject({
      selector: z.strictObject({ matchLabels: labels }),
      endpoints: z.tuple([
        z.strictObject({ port: z.literal("http"), path: z.literal("/metrics"), interval: z.string() }),
      ]),
    }),
  }),
};

describe("deploy/kubernetes", () => {
  it.each(Object.entries(manifests))("%s is one object of its kind, as hardened as it can be", async (file, schema) => {
    const documents = parseAllDocuments(await read(`kubernetes/${file}`));

    expect(documents).toHaveLength(1);
    expect(z.prettifyError(schema.safeParse(documents[0]?.toJS()).error ?? new z.ZodError([]))).toBe("");
  });

  it("has each of them in the kustomization", async () => {
    const { resources } = parse(await read("kubernetes/kustomization.yaml")) as {
      readonly resources: readonly string[];
    };
    const files = (await readdir(join(deploy, "kubernetes"))).filter((file) => file !== "kustomization.yaml");

    expect(resources.toSorted()).toEqual(files.toSorted());
    expect(files.toSorted()).toEqual(Object.keys(manifests).toSorted());
  });

  it("mounts every volume, where the image looks for it", async () => {
    const { spec } = manifests["deployment.yaml"].parse(parse(await read("kubernetes/deployment.yaml"))).spec.template;
    const mounts = spec.containers[0].volumeMounts;

    expect(mounts.map((mount) => mount.name).toSorted()).toEqual(spec.volumes.map((volume) => volume.name).toSorted());
    expect(mounts.map(({ mountPath }) => mountPath)).toEqual([
      "/etc/flatline",
      "/run/secrets/flatline",
      "/data",
      "/tmp",
    ]);
    expect(dockerfile).toMatch(/USER node[^]*EXPOSE 9640/);
  });

  it("has a flatline.yaml that flatline accepts, whose secrets are all in the Secret", async () => {
    const config = manifests["configmap.yaml"].parse(parse(await read("kubernetes/configmap.yaml")));
    const { stringData } = manifests["secret.yaml"].parse(parse(await read("kubernetes/secret.yaml")));
    const place = join(folder, "kubernetes");
    await cp(join(deploy, "kubernetes"), place, { recursive: true });
    for (const [key, value] of Object.entries(stringData)) await writeFile(join(place, key), value);
    const text = config.data["flatline.yaml"].replaceAll("/run/secrets/flatline/", `${place}/`);
    await writeFile(join(place, "flatline.yaml"), text);

    const checked = await runProgram(["config", "check", "-c", "flatline.yaml"], { cwd: place });

    expect([checked.exitCode, checked.stderr]).toEqual([0, ""]);
    expect(Object.keys(stringData).filter((key) => !text.includes(`${place}/${key}`))).toEqual([]);
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
    expect(final).toEqual([errorKinds.usage.exitCode, errorKinds.invalid_config.exitCode]);
  });
});

import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { debianTool } from "../support/debian-tool.ts";
import { prometheusTool, startPrometheus } from "../support/prometheus.ts";
import { eventually, runProgram, startDaemon } from "../support/program/program.ts";
import { at, chart, helm, operatorApis, parseManifests, render, renderText, runHelm, type Manifest } from "./helm.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const promtool = debianTool("promtool", "prometheus");
const examples = ["sqlite", "postgresql"] as const;
type Example = (typeof examples)[number];

interface RelabelConfig {
  readonly action: string;
  readonly targetLabel?: string;
  readonly replacement?: string;
  readonly regex?: string;
}

/** The values of deploy/helm/flatline/ci, by what they are an example of. */
async function valuesOf(example: Example): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(`${chart}/ci/${example}-values.yaml`, "utf8");
  return parse(text) as Readonly<Record<string, unknown>>;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-chart-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The one object of a kind; ConfigMaps and Secrets besides flatline's own have other names. */
function only(manifests: readonly Manifest[], kind: string): Manifest {
  const [found, ...more] = manifests.filter(({ kind: own, metadata }) => own === kind && metadata.name === "flatline");
  if (found === undefined || more.length > 0) throw new Error(`${kind}: ${found === undefined ? 0 : 2} of them`);
  return found;
}

it("the chart has the version of the package", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };

  expect(parse(await readFile(`${chart}/Chart.yaml`, "utf8"))).toMatchObject({ version, appVersion: version });
});

describe.skipIf(helm.isMissing)(`the chart${helm.note}`, () => {
  it.each(examples)("has nothing that helm lint warns of: %s", (example) => {
    const { status, stdout, stderr } = runHelm(["lint", "--strict", chart, "-f", `${chart}/ci/${example}-values.yaml`]);

    expect([status, stderr, stdout]).toEqual([0, "", expect.stringContaining("0 chart(s) failed")]);
    expect(stdout.replace("[INFO] Chart.yaml: icon is recommended", "")).not.toMatch(/\[(?:INFO|WARNING|ERROR)\]/);
  });

  // The rules and the dashboards have their own test below: a golden would repeat them.
  it.each(examples)("renders as its golden: %s", async (example) => {
    const { stdout } = renderText(await valuesOf(example));

    const text = stdout
      .replaceAll(/^( {2}groups:\n)(?: {4}.*\n)+/gm, "$1    (dashboards/rules/flatline.rules.yaml)\n")
      .replaceAll(/^( {2}flatline-(\w+)\.json: )\|\n(?:(?: {4}.*)?\n)+/gm, "$1(dashboards/$2.json)\n");

    await expect(text).toMatchFileSnapshot(`goldens/${example}.yaml`);
  });

  it.each([
    ["sqlite", "1 replica, store: sqlite", "port-forward service/flatline 9640:9640"],
    ["postgresql", "3 replicas, store: postgresql", "  https://flatline.example.com/\n"],
  ] as const)("says after the installation what runs and where: %s", (example, what, where) => {
    const flags = ["--namespace=security", `--values=${chart}/ci/${example}-values.yaml`, "--dry-run=client"];

    const { status, stdout } = runHelm(["install", "flatline", chart, ...flags]);

    const [, notes = ""] = stdout.split("\nNOTES:\n");
    expect([status, notes]).toEqual([0, expect.stringContaining(what)]);
    expect(notes).toContain(where);
    // No cluster was asked, so there is no operator.
    expect(notes).toContain("There is no Prometheus Operator in this cluster");
  });

  it("has the project's dashboards, as Grafana's sidecar reads them", async () => {
    const manifests = render(await valuesOf("postgresql"));
    const files = (await readdir(join(root, "dashboards"))).filter((name) => name.endsWith(".json"));

    const boards = manifests.filter(({ metadata }) => metadata.name.startsWith("flatline-dashboard-"));
    const texts = boards.flatMap(({ data }) => Object.entries(data as Readonly<Record<string, string>>));

    expect(texts.map(([name]) => name).toSorted()).toEqual(files.map((name) => `flatline-${name}`).toSorted());
    for (const [name, text] of texts)
      expect(text.trim()).toBe(
        (await readFile(join(root, "dashboards", name.slice("flatline-".length)), "utf8")).trim(),
      );
    for (const board of boards) expect(at(board, "metadata/labels/grafana_dashboard")).toBe("1");
  });

  it("has the project's rules, with where their runbooks are", async () => {
    const rules = await readFile(join(root, "dashboards/rules/flatline.rules.yaml"), "utf8");
    const { groups } = parse(
      rules.replaceAll("https://flatline.example.com/docs/runbooks.md", "https://a.example"),
    ) as {
      readonly groups: unknown;
    };
    const values = { ...(await valuesOf("sqlite")), prometheusRule: { runbooks: "https://a.example" } };

    expect(at(only(render(values), "PrometheusRule"), "spec")).toEqual({ groups });
  });

  it.skipIf(promtool.isMissing)(`has rules that promtool accepts${promtool.note}`, async () => {
    const rule = only(render(await valuesOf("postgresql")), "PrometheusRule");
    await writeFile(join(folder, "rules.yaml"), JSON.stringify(rule["spec"]));

    const { status, stdout } = promtool.run(["check", "rules", "--lint=all", "rules.yaml"], folder);

    expect([status, stdout]).toEqual([0, expect.stringMatching(/SUCCESS: \d\d rules found/)]);
  });

  it.skipIf(prometheusTool.isMissing)(
    `lets a real Prometheus scrape one of three replicas, through the service${prometheusTool.note}`,
    async () => {
      const monitor = only(render(await valuesOf("postgresql")), "ServiceMonitor");
      const relabelings = at(monitor, "spec/endpoints/0/relabelings") as readonly RelabelConfig[];
      await writeFile(
        join(folder, "flatline.yaml"),
        'source: { type: embedded }\norganizations: [acme]\nserver: { listen: "127.0.0.1:0" }\n',
      );
      await using daemon = await startDaemon([], { cwd: folder });
      const service = new URL(daemon.url).host;
      // As the operator writes them: names of Prometheus, and a target for each pod. The service is here the daemon itself.
      const relabel_configs = relabelings.map(({ action, targetLabel, replacement, regex }) => ({
        action,
        ...(targetLabel === undefined ? {} : { target_label: targetLabel }),
        ...(replacement === undefined
          ? {}
          : { replacement: replacement.replace(/^flatline\.security\.svc:9640$/, service) }),
        ...(regex === undefined ? {} : { regex }),
      }));
      const static_configs = ["a", "b", "c"].map((pod, index) => ({
        targets: [`10.0.0.${index}:9640`],
        labels: { pod, node: pod, container: "flatline", namespace: "security", __meta_kubernetes_pod_name: pod },
      }));
      await using prometheus = await startPrometheus({ flatline: { static_configs, relabel_configs } });

      const up = await eventually(async () => {
        const found = await prometheus.query('up{job="flatline"} == 1');
        return found.length > 0 ? found : null;
      });

      expect(await prometheus.query("flatline_build_info")).toHaveLength(1);
      expect(up.map(({ labels }) => labels)).toEqual([
        { __name__: "up", job: "flatline", instance: service, namespace: "security" },
      ]);
    },
  );

  it("asks for objects of the Prometheus Operator only where there is one", async () => {
    const kinds = (manifests: readonly Manifest[]): string[] => manifests.map(({ kind }) => kind);
    const values = await valuesOf("sqlite");

    expect(kinds(render(values, []))).toEqual([
      "NetworkPolicy",
      "ConfigMap",
      "PersistentVolumeClaim",
      "Service",
      "Deployment",
    ]);
    expect(kinds(render(values, operatorApis.slice(0, 1)))).toContain("ServiceMonitor");
    expect(kinds(render(values, operatorApis.slice(1)))).not.toContain("ServiceMonitor");
    expect(kinds(render(values, operatorApis.slice(1)))).toContain("PrometheusRule");
  });

  it("packages the dashboards and the rules themselves, not links, and no examples of values", () => {
    const packaged = runHelm(["package", chart, "--destination", folder]);
    const tar = (...args: readonly string[]): string =>
      spawnSync("tar", [...args], { cwd: folder, encoding: "utf8" }).stdout;
    const names = tar("-tzf", "flatline-0.1.0.tgz").split("\n");

    expect([packaged.status, packaged.stderr]).toEqual([0, ""]);
    expect(names).toEqual(expect.arrayContaining(["flatline/LICENSE", "flatline/files/flatline.rules.yaml"]));
    expect(names.filter((name) => name.includes("/ci/"))).toEqual([]);
    expect(tar("-xzOf", "flatline-0.1.0.tgz", "flatline/files/fleet.json")).toContain('"uid": "flatline-fleet"');
  });
});

describe.skipIf(helm.isMissing).each(examples)(`the chart on %s${helm.note}`, (example) => {
  let manifests: readonly Manifest[];
  let pod: unknown;
  beforeAll(async () => {
    manifests = render(await valuesOf(example));
    pod = at(only(manifests, "Deployment"), "spec/template/spec");
  });

  it("runs as the restricted Pod Security Standard wants it", () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
    });
    // What that standard forbids, or allows only some kinds of.
    for (const field of ["hostNetwork", "hostPID", "hostIPC", "initContainers"]) expect(at(pod, field)).toBeUndefined();
    const kinds = (at(pod, "volumes") as readonly object[]).flatMap((volume) => Object.keys(volume));
    expect(kinds.filter((kind) => !/^(?:name|configMap|secret|emptyDir|persistentVolumeClaim)$/.test(kind))).toEqual(
      [],
    );
  });

  it("is selected by what belongs to it, by labels that no upgrade changes", () => {
    const labels = { "app.kubernetes.io/name": "flatline", "app.kubernetes.io/instance": "flatline" };
    const selectors = {
      Deployment: "spec/selector/matchLabels",
      Service: "spec/selector",
      ServiceMonitor: "spec/selector/matchLabels",
      NetworkPolicy: "spec/podSelector/matchLabels",
      PodDisruptionBudget: "spec/selector/matchLabels",
    };

    for (const [kind, path] of Object.entries(selectors)) {
      const found = manifests.find((manifest) => manifest.kind === kind);
      if (found !== undefined) expect(at(found, path), kind).toEqual(labels);
    }
    expect(at(only(manifests, "Deployment"), "spec/template/metadata/labels")).toEqual(labels);
    // The ServiceMonitor selects the service by its labels.
    expect(at(only(manifests, "Service"), "metadata/labels")).toMatchObject(labels);
  });

  it("mounts every volume, and its files where the image and the configuration look for them", () => {
    const mounts = at(pod, "containers/0/volumeMounts") as readonly { readonly name: string; mountPath: string }[];
    const volumes = at(pod, "volumes") as readonly { readonly name: string }[];
    const secrets = example === "sqlite" ? [] : ["/run/secrets/flatline-store"];

    expect(mounts.map(({ name }) => name).toSorted()).toEqual(volumes.map(({ name }) => name).toSorted());
    expect(mounts.map(({ mountPath }) => mountPath)).toEqual([
      "/etc/flatline",
      "/run/secrets/flatline",
      ...secrets,
      "/data",
      "/tmp",
    ]);
  });

  it("listens where its probes, its service and its policy look", async () => {
    const dockerfile = await readFile(join(root, "Dockerfile"), "utf8");
    const probes = ["startupProbe", "readinessProbe", "livenessProbe"].map((probe) =>
      at(pod, `containers/0/${probe}/httpGet`),
    );

    expect(probes).toEqual([
      { path: "/-/ready", port: "http" },
      { path: "/-/ready", port: "http" },
      { path: "/-/healthy", port: "http" },
    ]);
    expect(at(pod, "containers/0/ports")).toEqual([{ name: "http", containerPort: 9640 }]);
    expect(at(only(manifests, "Service"), "spec/ports")).toEqual([{ name: "http", port: 9640, targetPort: "http" }]);
    expect(dockerfile).toMatch(/FLATLINE_LISTEN=0\.0\.0\.0:9640/);
  });

  it("has a flatline.yaml that flatline accepts, with all the secrets that it names", async () => {
    const place = join(folder, example);
    await mkdir(place);
    const text = at(only(manifests, "ConfigMap"), "data/flatline.yaml") as string;
    const named = [...text.matchAll(/\/run\/secrets\/([\w/-]+)/g)].map(([, path = ""]) => path);
    for (const path of named) {
      await mkdir(join(place, path, ".."), { recursive: true });
      const url = {
        "flatline/slack-url": "https://hooks.example.com/a",
        "flatline-store/url": "postgres://a:b@127.0.0.1/c",
      };
      await writeFile(join(place, path), url[path as keyof typeof url] ?? path.padEnd(32, "0"));
    }
    await writeFile(join(place, "flatline.yaml"), text.replaceAll("/run/secrets", place));

    const checked = await runProgram(["config", "check"], { cwd: place, env: { DIRECTORY_TOKEN: "a" } });

    expect([checked.exitCode, checked.stderr]).toEqual([0, ""]);
    expect(named.length).toBeGreaterThan(2);
    const own = manifests.find(({ kind }) => kind === "Secret");
    const keys = named.filter((path) => path.startsWith("flatline/")).map((path) => path.slice("flatline/".length));
    if (own !== undefined) expect(Object.keys(own["stringData"] as object).toSorted()).toEqual(keys.toSorted());
  });
});

describe.skipIf(helm.isMissing)(`the objects of the chart${helm.note}`, () => {
  const modules: Readonly<Record<string, string>> = {
    "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator/",
  };

  /** As literals of the API's types: the compiler finds a field that there is not, as well as one of another type. */
  function sourceOf(manifests: readonly Manifest[]): string {
    return manifests
      .map((manifest, index) => {
        const version = String(manifest["apiVersion"]);
        const from = `${modules[version] ?? "kubernetes-models/"}${version}`;
        return `import type { I${manifest.kind} as T${index} } from "${from}/${manifest.kind}";\nexport const object${index}: T${index} = ${JSON.stringify(manifest, null, 2)};\n`;
      })
      .join("\n");
  }

  async function compile(name: string, manifests: readonly Manifest[]): Promise<string> {
    const place = join(folder, name);
    await mkdir(place);
    await symlink(fileURLToPath(new URL("node_modules", import.meta.url)), join(place, "node_modules"));
    await writeFile(join(place, "objects.ts"), sourceOf(manifests));
    const compilerOptions = { strict: true, module: "nodenext", noEmit: true, skipLibCheck: true, types: [] };
    await writeFile(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["objects.ts"] }));
    await writeFile(join(place, "package.json"), '{ "type": "module" }');
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    return spawnSync(process.execPath, [tsc, "-p", "."], { cwd: place, encoding: "utf8" }).stdout;
  }

  it.each(examples)("are of the API's types, without a field that there is not: %s", async (example) => {
    const manifests = render(await valuesOf(example));

    expect(manifests.length).toBeGreaterThan(5);
    expect(await compile(`types-${example}`, manifests)).toBe("");
  });

  it.each([
    ["a field that there is not", "securityContext:", "securityContexts:", '"securityContexts"\' does not exist'],
    ["a number in place of a text", "path: /-/ready", "path: 7", "is not assignable to type 'string'"],
    ["no name of a container", "- name: flatline\n          image:", "- image:", '"name"\' is missing'],
  ])("would not be with %s", async (name, right, wrong, message) => {
    const { stdout } = renderText(await valuesOf("sqlite"));

    expect(await compile(name, parseManifests(stdout.replace(right, wrong)))).toContain(message);
  });
});

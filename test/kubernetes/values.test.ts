import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { renderValuesSchema } from "../../scripts/chart-values.ts";
import { at, chart, helm, parseManifests, render, renderText, runHelm, type Manifest, type Values } from "./helm.ts";

const base = {
  image: { repository: "registry.example.com/flatline" },
  config: { source: { type: "embedded" }, organizations: ["acme"] },
};
const ingress = { ingress: { enabled: true, host: "flatline.example.com" } };
const dashboards = { dashboards: { enabled: true } };
const postgresql = { storage: { type: "postgresql", postgresql: { existingSecret: "store" } } };
const pod = "Deployment/spec/template/spec";
const container = `${pod}/containers/0`;
const digest = `sha256:${"a".repeat(64)}`;
const peer = { podSelector: { matchLabels: { app: "prometheus" } } };
const toleration = { key: "spot", operator: "Exists" };
const spread = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" };

/** A value, what it is set to, beside which others, where it is seen (KIND/path), and what is there. */
interface Row {
  readonly value: string;
  readonly to: unknown;
  readonly beside?: Values;
  readonly seenAt: string;
  readonly as: unknown;
}

const rows: readonly Row[] = [
  {
    value: "nameOverride",
    to: "watch",
    seenAt: "Deployment/metadata/labels/app.kubernetes.io~1name",
    as: "watch",
  },
  { value: "fullnameOverride", to: "watch", seenAt: "Deployment/metadata/name", as: "watch" },
  {
    value: "image.repository",
    to: "localhost/flatline",
    seenAt: `${container}/image`,
    as: "localhost/flatline:0.1.0",
  },
  { value: "image.tag", to: "9.9.9", seenAt: `${container}/image`, as: "registry.example.com/flatline:9.9.9" },
  {
    value: "image.digest",
    to: digest,
    seenAt: `${container}/image`,
    as: `registry.example.com/flatline:0.1.0@${digest}`,
  },
  { value: "image.pullPolicy", to: "Always", seenAt: `${container}/imagePullPolicy`, as: "Always" },
  { value: "imagePullSecrets", to: [{ name: "a" }], seenAt: `${pod}/imagePullSecrets`, as: [{ name: "a" }] },
  { value: "replicas", to: 3, beside: postgresql, seenAt: "Deployment/spec/replicas", as: 3 },
  {
    value: "secret.existing",
    to: "mine",
    seenAt: `${pod}/volumes/1`,
    as: { name: "secret", secret: { secretName: "mine", defaultMode: 0o440 } },
  },
  { value: "secret.values", to: { token: "0123" }, seenAt: "Secret/stringData", as: { token: "0123" } },
  { value: "env", to: [{ name: "A", value: "b" }], seenAt: `${container}/env/1`, as: { name: "A", value: "b" } },
  {
    value: "envFrom",
    to: [{ secretRef: { name: "a" } }],
    seenAt: `${container}/envFrom`,
    as: [{ secretRef: { name: "a" } }],
  },
  {
    value: "storage.type",
    to: "postgresql",
    beside: { storage: { postgresql: { existingSecret: "store" } } },
    seenAt: "Deployment/spec/strategy/type",
    as: "RollingUpdate",
  },
  {
    value: "storage.sqlite.size",
    to: "50Gi",
    seenAt: "PersistentVolumeClaim/spec/resources/requests/storage",
    as: "50Gi",
  },
  {
    value: "storage.sqlite.storageClass",
    to: "fast",
    seenAt: "PersistentVolumeClaim/spec/storageClassName",
    as: "fast",
  },
  {
    value: "storage.sqlite.accessModes",
    to: ["ReadWriteOncePod"],
    seenAt: "PersistentVolumeClaim/spec/accessModes",
    as: ["ReadWriteOncePod"],
  },
  {
    value: "storage.sqlite.existingClaim",
    to: "mine",
    seenAt: `${pod}/volumes/1/persistentVolumeClaim/claimName`,
    as: "mine",
  },
  { value: "storage.sqlite.keep", to: false, seenAt: "PersistentVolumeClaim/metadata/annotations", as: undefined },
  {
    value: "storage.postgresql.existingSecret",
    to: "mine",
    beside: postgresql,
    seenAt: `${pod}/volumes/1/secret/secretName`,
    as: "mine",
  },
  {
    value: "storage.postgresql.key",
    to: "uri",
    beside: postgresql,
    seenAt: `${pod}/volumes/1/secret/items`,
    as: [{ key: "uri", path: "url" }],
  },
  { value: "service.type", to: "LoadBalancer", seenAt: "Service/spec/type", as: "LoadBalancer" },
  { value: "service.port", to: 80, seenAt: "Service/spec/ports/0/port", as: 80 },
  { value: "service.annotations", to: { a: "b" }, seenAt: "Service/metadata/annotations", as: { a: "b" } },
  {
    value: "ingress.enabled",
    to: true,
    beside: { ingress: { host: "a.example" } },
    seenAt: "Ingress/kind",
    as: "Ingress",
  },
  { value: "ingress.className", to: "nginx", beside: ingress, seenAt: "Ingress/spec/ingressClassName", as: "nginx" },
  {
    value: "ingress.annotations",
    to: { a: "b" },
    beside: ingress,
    seenAt: "Ingress/metadata/annotations",
    as: { a: "b" },
  },
  { value: "ingress.host", to: "b.example", beside: ingress, seenAt: "Ingress/spec/rules/0/host", as: "b.example" },
  { value: "ingress.path", to: "/f", beside: ingress, seenAt: "Ingress/spec/rules/0/http/paths/0/path", as: "/f" },
  {
    value: "ingress.tlsSecret",
    to: "tls",
    beside: ingress,
    seenAt: "Ingress/spec/tls",
    as: [{ hosts: ["flatline.example.com"], secretName: "tls" }],
  },
  { value: "networkPolicy.enabled", to: false, seenAt: "NetworkPolicy", as: undefined },
  {
    value: "networkPolicy.from",
    to: [peer],
    seenAt: "NetworkPolicy/spec/ingress",
    as: [{ ports: [{ port: "http", protocol: "TCP" }], from: [peer] }],
  },
  {
    value: "networkPolicy.egress",
    to: [{ ports: [{ port: 443 }] }],
    seenAt: "NetworkPolicy/spec/egress/1",
    as: { ports: [{ port: 443 }] },
  },
  {
    value: "podDisruptionBudget.enabled",
    to: false,
    beside: { ...postgresql, replicas: 2 },
    seenAt: "PodDisruptionBudget",
    as: undefined,
  },
  {
    value: "podDisruptionBudget.maxUnavailable",
    to: "50%",
    beside: { ...postgresql, replicas: 2 },
    seenAt: "PodDisruptionBudget/spec/maxUnavailable",
    as: "50%",
  },
  { value: "serviceMonitor.enabled", to: false, seenAt: "ServiceMonitor", as: undefined },
  { value: "serviceMonitor.interval", to: "1m", seenAt: "ServiceMonitor/spec/endpoints/0/interval", as: "1m" },
  { value: "serviceMonitor.labels", to: { a: "b" }, seenAt: "ServiceMonitor/metadata/labels/a", as: "b" },
  {
    value: "serviceMonitor.tokenSecret.name",
    to: "mine",
    seenAt: "ServiceMonitor/spec/endpoints/0/authorization",
    as: { credentials: { name: "mine", key: "token" } },
  },
  {
    value: "serviceMonitor.tokenSecret.key",
    to: "prometheus",
    beside: { serviceMonitor: { tokenSecret: { name: "mine" } } },
    seenAt: "ServiceMonitor/spec/endpoints/0/authorization/credentials/key",
    as: "prometheus",
  },
  { value: "prometheusRule.enabled", to: false, seenAt: "PrometheusRule", as: undefined },
  { value: "prometheusRule.labels", to: { a: "b" }, seenAt: "PrometheusRule/metadata/labels/a", as: "b" },
  {
    value: "prometheusRule.runbooks",
    to: "https://wiki.example.com/flatline",
    seenAt: "PrometheusRule/spec/groups/1/rules/0/annotations/runbook_url",
    as: "https://wiki.example.com/flatline#flatlinedeadassetspikefail",
  },
  { value: "dashboards.enabled", to: true, seenAt: "flatline-dashboard-fleet/kind", as: "ConfigMap" },
  {
    value: "dashboards.namespace",
    to: "grafana",
    beside: dashboards,
    seenAt: "flatline-dashboard-fleet/metadata/namespace",
    as: "grafana",
  },
  {
    value: "dashboards.labels",
    to: { board: "yes" },
    beside: dashboards,
    seenAt: "flatline-dashboard-fleet/metadata/labels/board",
    as: "yes",
  },
  {
    value: "dashboards.annotations",
    to: { grafana_folder: "a" },
    beside: dashboards,
    seenAt: "flatline-dashboard-fleet/metadata/annotations",
    as: { grafana_folder: "a" },
  },
  { value: "resources", to: { limits: { cpu: 2 } }, seenAt: `${container}/resources/limits/cpu`, as: 2 },
  { value: "podSecurityContext", to: { fsGroup: 7 }, seenAt: `${pod}/securityContext/fsGroup`, as: 7 },
  { value: "securityContext", to: { runAsUser: 7 }, seenAt: `${container}/securityContext/runAsUser`, as: 7 },
  { value: "probes.startup", to: { periodSeconds: 7 }, seenAt: `${container}/startupProbe/periodSeconds`, as: 7 },
  { value: "probes.readiness", to: { periodSeconds: 7 }, seenAt: `${container}/readinessProbe/periodSeconds`, as: 7 },
  { value: "probes.liveness", to: { periodSeconds: 7 }, seenAt: `${container}/livenessProbe/periodSeconds`, as: 7 },
  { value: "terminationGracePeriodSeconds", to: 60, seenAt: `${pod}/terminationGracePeriodSeconds`, as: 60 },
  { value: "serviceAccountName", to: "a", seenAt: `${pod}/serviceAccountName`, as: "a" },
  { value: "priorityClassName", to: "a", seenAt: `${pod}/priorityClassName`, as: "a" },
  { value: "podLabels", to: { a: "b" }, seenAt: "Deployment/spec/template/metadata/labels/a", as: "b" },
  { value: "podAnnotations", to: { a: "b" }, seenAt: "Deployment/spec/template/metadata/annotations", as: { a: "b" } },
  { value: "nodeSelector", to: { a: "b" }, seenAt: `${pod}/nodeSelector`, as: { a: "b" } },
  { value: "tolerations", to: [toleration], seenAt: `${pod}/tolerations`, as: [toleration] },
  { value: "affinity", to: { nodeAffinity: {} }, seenAt: `${pod}/affinity`, as: { nodeAffinity: {} } },
  { value: "topologySpreadConstraints", to: [spread], seenAt: `${pod}/topologySpreadConstraints`, as: [spread] },
  { value: "extraVolumes", to: [{ name: "ca" }], seenAt: `${pod}/volumes/3`, as: { name: "ca" } },
  {
    value: "extraVolumeMounts",
    to: [{ name: "ca", mountPath: "/ca" }],
    seenAt: `${container}/volumeMounts/3`,
    as: { name: "ca", mountPath: "/ca" },
  },
];

/** Returns `values` with `to` at `path` ("image.tag"). */
function withValue(values: Values, path: string, to: unknown): Values {
  const [key = "", ...rest] = path.split(".");
  const inner = (values[key] ?? {}) as Values;
  return { ...values, [key]: rest.length === 0 ? to : withValue(inner, rest.join("."), to) };
}

/** Returns what is at KIND/path or NAME/path. */
function seen(manifests: readonly Manifest[], place: string): unknown {
  const [whose = "", ...path] = place.split("/");
  const manifest = manifests.find(({ kind, metadata }) => kind === whose || metadata.name === whose);
  return path.length === 0 || manifest === undefined ? manifest : at(manifest, path.join("/"));
}

/** Returns the paths of the values that a schema has: what is an object of its own is looked into. */
function pathsOf(node: unknown, place: string): string[] {
  const properties = at(node, "properties");
  if (typeof properties !== "object" || properties === null) return [place];
  return Object.entries(properties).flatMap(([key, child]) => pathsOf(child, place === "" ? key : `${place}.${key}`));
}

const schema: unknown = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8"));
const defaults = parse(readFileSync(`${chart}/values.yaml`, "utf8")) as Values;
const paths = pathsOf(schema, "").filter((path) => !/^(?:config|global)(?:\.|$)/.test(path));

describe("the values of the chart", () => {
  it("are all in values.yaml, and no others", () => {
    const missing = paths.filter((path) => at(defaults, path.replaceAll(".", "/")) === undefined);

    expect(missing).toEqual([]);
    expect(Object.keys(defaults).toSorted()).toEqual(
      [...new Set(["config", ...paths.map((path) => path.split(".")[0] ?? "")])].toSorted(),
    );
  });

  it("have the schema that scripts/chart-values.ts makes (else: npm run generate)", () => {
    expect(readFileSync(`${chart}/values.schema.json`, "utf8")).toBe(renderValuesSchema());
  });

  it("are each tried below", () => {
    expect(rows.map(({ value }) => value).toSorted()).toEqual(paths.toSorted());
  });
});

describe.skipIf(helm.isMissing)(`a value of the chart${helm.note}`, () => {
  const unset = new Map<string, Manifest[]>();
  /** What most rows share is rendered once. */
  function renderOnce(values: Values): Manifest[] {
    const key = JSON.stringify(values);
    const manifests = unset.get(key) ?? render(values);
    unset.set(key, manifests);
    return manifests;
  }

  it.each(rows)("$value is at $seenAt", ({ value, to, beside = {}, seenAt, as }) => {
    const values = { ...base, ...beside };

    const before = seen(renderOnce(values), seenAt);
    const after = seen(render(withValue(values, value, to)), seenAt);

    expect(after).toEqual(as);
    expect(before).not.toEqual(as);
  });

  it.each([
    ["podSecurityContext.runAsUser", `${pod}/securityContext/runAsUser`],
    ["securityContext.readOnlyRootFilesystem", `${container}/securityContext/readOnlyRootFilesystem`],
  ])("%s goes when it is null, as some clusters need it", (value, seenAt) => {
    expect(seen(render(base), seenAt)).toBeDefined();
    expect(seen(render(withValue(base, value, null)), seenAt)).toBeUndefined();
  });

  it.each([
    ["flatline", "", "flatline"],
    ["prod", "", "prod-flatline"],
    ["flatline-eu", "", "flatline-eu"],
    ["eu", "watch", "eu-watch"],
    ["r".repeat(53), "a-name-of-some-length", `${"r".repeat(53)}-a-name-of`],
  ])("names the objects of release %s (nameOverride: %j) %s", (release, nameOverride, name) => {
    const { stdout } = runHelm(["template", release, chart, "--values=-"], JSON.stringify({ ...base, nameOverride }));

    expect(new Set(parseManifests(stdout).map(({ metadata }) => metadata.name))).toEqual(new Set([name]));
  });

  it("is taken from `global` by none, which a chart around this one may set", () => {
    expect(render({ ...base, global: { any: "thing" } })).toEqual(render(base));
  });
});

describe.skipIf(helm.isMissing)(`the chart refuses${helm.note}`, () => {
  it.each<readonly [string, Values, string]>([
    ["no image", { config: base.config }, "at '/image/repository': minLength: got 0, want 1"],
    ["no configuration", { image: base.image }, "at '/config': missing property 'source'"],
    ["a value that it does not have", { ...base, replica: 2 }, "additional properties 'replica' not allowed"],
    [
      "a setting that flatline does not have",
      withValue(base, "config.organisations", ["acme"]),
      "at '/config': additional properties 'organisations' not allowed",
    ],
    [
      "a setting of another type",
      withValue(base, "config.defaults.thresholds.windowHours", "a day"),
      "at '/config/defaults/thresholds/windowHours': got string, want integer",
    ],
    ["a tag in place of a digest", withValue(base, "image.digest", "0.1.0"), "at '/image/digest'"],
    [
      "two replicas on one file",
      { ...base, replicas: 2 },
      "replicas: an SQLite file has one writer; set replicas to 1",
    ],
    [
      "PostgreSQL without its URL",
      withValue(base, "storage.type", "postgresql"),
      "storage.postgresql.existingSecret: storage.type is postgresql; name the Secret",
    ],
    [
      "a store in the configuration",
      withValue(base, "config.storage.path", "a.db"),
      "config.storage.path: the chart sets the store's place",
    ],
    [
      "a store in the configuration, by file",
      withValue(base, "config.storage.urlFile", "/run/url"),
      "config.storage.urlFile: the chart sets the store's place",
    ],
    [
      "another port in the configuration",
      withValue(base, "config.server.listen", "0.0.0.0:80"),
      "config.server.listen: the image listens on port 9640",
    ],
    ["two Secrets", { ...base, secret: { existing: "a", values: { b: "c" } } }, "secret: it is either `existing` or"],
    ["an Ingress without a host", withValue(base, "ingress.enabled", true), "ingress.host: the Ingress is enabled"],
  ])("%s", (_name, values, message) => {
    const { status, stderr } = renderText(values);

    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});

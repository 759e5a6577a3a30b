// Writes deploy/helm/flatline/values.schema.json: node scripts/chart-values.ts
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { createJsonSchema, type JsonSchema } from "../src/config/schema/json-schema.ts";

const target = fileURLToPath(new URL("../deploy/helm/flatline/values.schema.json", import.meta.url));

const name = z.string().max(63);
const texts = z.record(z.string(), z.string());
// Parts of the Kubernetes API, passed on as they are: the API server checks them.
const object = z.record(z.string(), z.unknown());
const objects = z.array(object);

const valuesSchema = z.strictObject({
  // Set by Helm in a chart that has this one as a dependency.
  global: object.optional(),
  nameOverride: name,
  fullnameOverride: name,
  image: z.strictObject({
    repository: z.string().min(1),
    tag: z.string(),
    digest: z.string().regex(/^(?:sha256:[0-9a-f]{64})?$/),
    pullPolicy: z.enum(["Always", "IfNotPresent", "Never"]),
  }),
  imagePullSecrets: objects,
  replicas: z.int().min(0).max(100),
  config: z.unknown(),
  secret: z.strictObject({ existing: z.string(), values: texts }),
  env: objects,
  envFrom: objects,
  storage: z.strictObject({
    type: z.enum(["sqlite", "postgresql"]),
    sqlite: z.strictObject({
      size: z.string().regex(/^\d+(?:\.\d+)?(?:[kMGTPE]i?)?$/),
      storageClass: z.string(),
      accessModes: z.array(z.enum(["ReadWriteOnce", "ReadWriteOncePod"])).min(1),
      existingClaim: z.string(),
      keep: z.boolean(),
    }),
    postgresql: z.strictObject({ existingSecret: z.string(), key: z.string().min(1) }),
  }),
  service: z.strictObject({
    type: z.enum(["ClusterIP", "NodePort", "LoadBalancer"]),
    port: z.int().min(1).max(65_535),
    annotations: texts,
  }),
  ingress: z.strictObject({
    enabled: z.boolean(),
    className: z.string(),
    annotations: texts,
    host: z.string(),
    path: z.string().regex(/^\//),
    tlsSecret: z.string(),
  }),
  networkPolicy: z.strictObject({ enabled: z.boolean(), from: objects, egress: objects }),
  serviceMonitor: z.strictObject({
    enabled: z.boolean(),
    interval: z.string().regex(/^\d+(?:ms|s|m|h)$/),
    labels: texts,
    tokenSecret: z.strictObject({ name: z.string(), key: z.string().min(1) }),
  }),
  prometheusRule: z.strictObject({ enabled: z.boolean(), labels: texts, runbooks: z.url() }),
  dashboards: z.strictObject({ enabled: z.boolean(), namespace: z.string(), labels: texts, annotations: texts }),
  resources: object,
  podSecurityContext: object,
  securityContext: object,
  probes: z.strictObject({ startup: object, readiness: object, liveness: object }),
  terminationGracePeriodSeconds: z.int().min(1),
  serviceAccountName: z.string(),
  priorityClassName: z.string(),
  podLabels: texts,
  podAnnotations: texts,
  nodeSelector: texts,
  tolerations: objects,
  affinity: object,
  topologySpreadConstraints: objects,
  extraVolumes: objects,
  extraVolumeMounts: objects,
});

/** Returns the text of values.schema.json. `config` is the schema of flatline.yaml, so that a typo stops a release. */
export function renderValuesSchema(): string {
  const { $schema, properties, ...values } = z.toJSONSchema(valuesSchema, { io: "input" }) as JsonSchema;
  const { $schema: _, title: __, $defs, ...config } = rulesOf(createJsonSchema()) as JsonSchema;
  const schema = { $schema, ...values, properties: { ...(properties as JsonSchema), config }, $defs };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/**
 * Returns the schema without its prose, of which Helm shows nothing and which is most of it, and without the patterns
 * that look ahead, which the regular expressions of Go do not have.
 */
function rulesOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rulesOf);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(
    ([keyword, value]) =>
      !(
        ["description", "default", "examples"].includes(keyword) &&
        (typeof value !== "object" || Array.isArray(value))
      ) && !(keyword === "pattern" && typeof value === "string" && value.includes("(?=")),
  );
  return Object.fromEntries(kept.map(([keyword, child]) => [keyword, rulesOf(child)]));
}

if (import.meta.main) writeFileSync(target, renderValuesSchema());

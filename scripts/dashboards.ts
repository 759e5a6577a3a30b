// Writes dashboards/*.json from dashboards/src: node scripts/dashboards.ts
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { Dataquery } from "@grafana/grafana-foundation-sdk/cog";
import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";

import { daemonDashboard } from "../dashboards/src/daemon.ts";
import { fleetDashboard } from "../dashboards/src/fleet.ts";
import { organizationDashboard } from "../dashboards/src/organization.ts";

/** Where the dashboards are. */
export const dashboardsFolder = fileURLToPath(new URL("../dashboards/", import.meta.url));

/** The text of each dashboard, by the name of its file. */
export function renderDashboards(): ReadonlyMap<string, string> {
  return new Map([
    ["fleet.json", textOf(fleetDashboard())],
    ["organization.json", textOf(organizationDashboard())],
    ["flatline.json", textOf(daemonDashboard())],
  ]);
}

/** Panels and queries get their names here, so that links to one of them hold; a provisioned dashboard has no id of its own. */
function textOf(dashboard: Dashboard): string {
  const panels = (dashboard.panels ?? []).map((panel, index) =>
    "targets" in panel && panel.targets !== undefined
      ? { ...panel, id: index + 1, targets: panel.targets.map(withName) }
      : { ...panel, id: index + 1 },
  );
  return `${JSON.stringify({ ...dashboard, id: null, editable: false, panels }, null, 2)}\n`;
}

function withName(query: Dataquery, index: number): Dataquery & { readonly refId: string } {
  const refId = "refId" in query ? String(query.refId) : "";
  return { ...query, refId: refId === "" ? String.fromCodePoint(65 + index) : refId };
}

if (import.meta.main) for (const [name, text] of renderDashboards()) writeFileSync(`${dashboardsFolder}${name}`, text);

import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { dashboardsFolder, renderDashboards } from "../../scripts/dashboards.ts";

it.each([...renderDashboards()])(
  "dashboards/%s is what dashboards/src makes (else: npm run generate)",
  (name, text) => {
    expect(readFileSync(`${dashboardsFolder}${name}`, "utf8")).toBe(text);
  },
);

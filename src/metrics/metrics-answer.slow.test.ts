import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

import { expect, it } from "vitest";

import { busyMetrics, textOf } from "../../test/support/app-metrics.ts";

const promtool = "/usr/bin/promtool";

const reason = existsSync(promtool) ? "" : ` (skipped: ${promtool} is not installed)`;
it.skipIf(reason !== "")(`leaves promtool nothing to say${reason}`, async () => {
  const { metrics, fleet } = busyMetrics();

  const input = await textOf(metrics, fleet);
  const { status, stdout, stderr } = spawnSync(promtool, ["check", "metrics"], {
    input,
    encoding: "utf8",
    timeout: 30_000,
  });

  expect([status, stdout, stderr]).toEqual([0, "", ""]);
});

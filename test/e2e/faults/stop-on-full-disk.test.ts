import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { secondMs } from "../../../src/base/time.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { fullDiskSkipReason, makeFullDisk } from "../../support/store/full-disk.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { statusOf, eventually, startDaemon, stopProgram, type ProgramEnd } from "../../support/program/program.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

// Long enough to be asked while it lasts.
const drainMs = 2 * secondMs;

type Lease = "of a check" | "of a delivery" | "none, after a run was not recorded";

/** Stops a daemon whose disk has become full while it held a lease; what has a lease hangs until the stop gives it up. */
async function stopOnFullDisk(lease: Lease): Promise<ProgramEnd> {
  const upstream = await startScriptedUpstream();
  upstream.otherwise(() => {
    if (lease === "of a check") return { kind: "hang" };
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug: "acme" }, severity: "fail", ok: false }) };
  });
  const receiver = await startHttpSink(() => undefined);
  const monitor = await startHttpSink((response) => response.end());
  await using disk = await makeFullDisk();
  await writeFile(
    join(disk.path, "flatline.yaml"),
    `
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "${lease.startsWith("none,") ? "* * * * * *" : "@yearly"}" }
organizations: [acme]
${lease === "of a delivery" ? `receivers: [{ name: ops, type: webhook, url: "${receiver.url}" }]` : ""}
alerting: { groupWait: 0s }
heartbeat: { url: "${monitor.url}", interval: 1s }
server: { listen: "127.0.0.1:0", drainTimeout: ${drainMs}ms }
storage: { path: flatline.db }
`,
  );
  await using daemon = await startDaemon([], { cwd: disk.path });
  await upstream.received(1);
  if (lease !== "of a check") await daemon.untilLogged("severity changed");
  if (lease === "of a delivery") await eventually(() => receiver.requests.length === 1);
  await eventually(() => monitor.requests.length > 0);
  await disk.fill();
  if (lease.startsWith("none,")) await daemon.untilLogged("run was not recorded, will be run again");

  const stopped = stopProgram(daemon);
  await daemon.untilLogged("flatline stops");
  const beats = monitor.requests.length;
  if (!lease.startsWith("none")) {
    expect(await statusOf(`${daemon.url}/-/ready`)).toBe(503);
    expect(await statusOf(`${daemon.url}/-/healthy`)).toBe(200);
  }
  const end = await stopped;

  expect(monitor.requests, "heartbeats of a daemon that stops").toHaveLength(beats);
  expect(end.stderr).not.toMatch(/\n\s+at /);
  await Promise.all([upstream.close(), receiver.close(), monitor.close()]);
  return end;
}

const reason = fullDiskSkipReason === null ? "" : ` (skipped: ${fullDiskSkipReason})`;

// Each stop writes: it gives its checks back to whoever starts next.
describe.skipIf(fullDiskSkipReason !== null)(`SIGTERM while the disk is full${reason}`, () => {
  it.each(["of a check", "of a delivery", "none, after a run was not recorded"] as const)(
    "ends with 74 when the lease held is: %s",
    async (lease) => {
      expect(await stopOnFullDisk(lease)).toMatchObject({ exitCode: 74 });
    },
  );
});

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { Notification } from "../../../src/alerting/notify/notification.ts";
import { Secret } from "../../../src/base/secret.ts";
import { createSystemClock, secondMs } from "../../../src/base/time.ts";
import { alertmanagerWebhookBody } from "../../../src/receivers/alertmanager/body.ts";
import { createAlertmanagerReceiver } from "../../../src/receivers/alertmanager/alertmanager.ts";
import { sampleNotifications } from "../../../src/receivers/sample-notifications.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";

const binary = "/usr/bin/prometheus-alertmanager";
const clock = createSystemClock();
const signal = new AbortController().signal;
const samples = sampleNotifications();

interface Gotten {
  readonly status: string;
  readonly alerts: readonly {
    readonly status: string;
    readonly labels: Record<string, string>;
    readonly fingerprint: string;
  }[];
}

/** A real Alertmanager (Debian's) between the receiver and a webhook. */
let alertmanager: ChildProcess;
let folder: string;
let url: string;
let sink: HttpSink;
let dispatcher: Agent;

// Debian's package is a tool of the long tests: without it there is nothing to compare with.
const isMissing = !existsSync(binary);

beforeAll(async () => {
  if (isMissing) return;
  folder = await mkdtemp(join(tmpdir(), "flatline-alertmanager-"));
  dispatcher = new Agent();
  sink = await startHttpSink((response) => response.writeHead(200).end());
  const route =
    "route: { receiver: sink, group_by: [alertname, slug], group_wait: 0s, group_interval: 1s, repeat_interval: 1h }";
  const receivers = `receivers: [{ name: sink, webhook_configs: [{ url: "${sink.url}", send_resolved: true }] }]`;
  await writeFile(join(folder, "alertmanager.yml"), `${route}\n${receivers}\n`);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  alertmanager = spawn(binary, [
    `--config.file=${join(folder, "alertmanager.yml")}`,
    `--storage.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--cluster.listen-address=",
  ]);
  await eventually(async () => (await request(`${url}/-/ready`, { dispatcher })).statusCode === 200);
});

afterAll(async () => {
  if (isMissing) return;
  const exited = once(alertmanager, "exit");
  alertmanager.kill();
  await exited;
  await dispatcher.destroy();
  await sink.close();
  await rm(folder, { recursive: true });
});

it.skipIf(isMissing)(
  "takes firing, a change of severity and the end, and tells its own webhooks as we do",
  async () => {
    const urls = [new Secret(url)];
    const receiver = createAlertmanagerReceiver(
      { type: "alertmanager", name: "am", urls, resendIntervalMs: 60_000 },
      { dispatcher },
    );
    const warning = movedToNow("firing", { severity: "warn" });
    const escalated = movedToNow("escalated");
    const resolved = movedToNow("resolved");

    const outcomes = [];
    for (const [notification, status, severity] of [
      [warning, "firing", "warn"],
      [escalated, "firing", "fail"],
      [resolved, "resolved", "fail"],
    ] as const) {
      outcomes.push(await receiver.deliver(notification, { signal, nowMs: clock.nowMs() }));
      await eventually(async () => received().some(({ alerts }) => hasAlert(alerts, status, severity)));
    }

    expect(outcomes).toMatchObject([{ kind: "accepted" }, { kind: "accepted" }, { kind: "accepted" }]);
    expect(received().some(({ alerts }) => hasAlert(alerts, "resolved", "warn"))).toBe(true);
    const theirs = received()[0];
    const ours = alertmanagerWebhookBody(warning);
    expect(Object.keys(ours).toSorted()).toEqual(Object.keys(theirs ?? {}).toSorted());
    expect(Object.keys(ours.alerts[0] ?? {}).toSorted()).toEqual(Object.keys(theirs?.alerts[0] ?? {}).toSorted());
    expect(ours.alerts[0]?.fingerprint).toBe(theirs?.alerts[0]?.fingerprint);
  },
);

function movedToNow(kind: string, given: { readonly severity?: "warn" } = {}): Notification {
  const notification = samples[kind];
  if (notification === undefined) throw new Error(`no sample ${kind}`);
  const nowMs = clock.nowMs();
  const alerts = notification.alerts.map((alert) => ({
    ...alert,
    ...given,
    startsAtMs: nowMs - 3_600 * secondMs,
    endsAtMs: alert.endsAtMs === null ? null : nowMs,
  }));
  return { ...notification, generatedAtMs: nowMs, alerts };
}

function received(): Gotten[] {
  return sink.requests.map(({ body }) => JSON.parse(body) as Gotten);
}

function hasAlert(alerts: Gotten["alerts"], status: string, severity: string): boolean {
  return alerts.some((alert) => alert.status === status && alert.labels["severity"] === severity);
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = clock.monotonicMs() + 15 * secondMs;
  for (;;) {
    if (await holds().catch(() => false)) return;
    if (clock.monotonicMs() > deadlineMs) throw new Error("it did not happen within 15 s");
    await clock.sleep(50);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

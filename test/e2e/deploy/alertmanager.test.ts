import { readFile } from "node:fs/promises";

import { Agent } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";

import type { Notification } from "../../../src/alerting/notify/notification.ts";
import { Secret } from "../../../src/base/secret.ts";
import { createSystemClock, secondMs } from "../../../src/base/time.ts";
import { checkKind } from "../../../src/checks/checks.ts";
import { createAlertmanagerReceiver } from "../../../src/receivers/alertmanager/alertmanager.ts";
import { notifications } from "../../support/notifications.ts";
import { compileTemplate } from "../../../src/receivers/webhook/template.ts";
import { alertmanagerTool, startAlertmanager, webhookConfig, type Alertmanager } from "../../support/alertmanager.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const clock = createSystemClock();
const signal = new AbortController().signal;
const samples: Readonly<Record<string, Notification>> = notifications();

interface Gotten {
  readonly status: string;
  readonly alerts: readonly {
    readonly status: string;
    readonly labels: Record<string, string>;
  }[];
}

/** A real Alertmanager (Debian's) between the receiver and a webhook. */
let alertmanager: Alertmanager;
let sink: HttpSink;
let dispatcher: Agent;

// Without it there is nothing to compare with.
const { isMissing, note } = alertmanagerTool;

beforeAll(async () => {
  if (isMissing) return;
  dispatcher = new Agent();
  sink = await startHttpSink((response) => response.writeHead(200).end());
  alertmanager = await startAlertmanager(webhookConfig(sink.url));
});

afterAll(async () => {
  if (isMissing) return;
  await alertmanager[Symbol.asyncDispose]();
  await dispatcher.destroy();
  await sink.close();
});

it.skipIf(isMissing)(
  `takes firing, a change of severity and the end, and tells its own webhooks as the recipe does${note}`,
  async () => {
    const url = [new Secret(alertmanager.url)];
    const receiver = createAlertmanagerReceiver(
      { type: "alertmanager", name: "am", url, resendIntervalMs: 60_000 },
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
    const recipe = await readFile(
      new URL("../../../examples/receivers/alertmanager-body.yaml", import.meta.url),
      "utf8",
    );
    const { receivers } = parse(recipe) as { readonly receivers: readonly { readonly template: string }[] };
    const render = compileTemplate(receivers[0]?.template ?? "", "application/json");
    const ours = JSON.parse(render(warning)) as Gotten;
    expect(Object.keys(ours).toSorted()).toEqual(Object.keys(theirs ?? {}).toSorted());
    expect(Object.keys(ours.alerts[0] ?? {}).toSorted()).toEqual(Object.keys(theirs?.alerts[0] ?? {}).toSorted());
  },
);

it.skipIf(isMissing)(
  `mutes, with compose's configuration, what a verdict or an incident of the family says, and no other${note}`,
  async () => {
    const root = new URL("../../../", import.meta.url);
    const rules = await readFile(new URL("dashboards/rules/flatline.rules.yaml", root), "utf8");
    const ruleNames = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
    // Those that come from Prometheus, and the one that flatline's own receiver sends.
    const names = [...ruleNames, checkKind("dead-asset-spike").alertName];
    await using composed = await startAlertmanager(
      await readFile(new URL("deploy/compose/alertmanager.yml", root), "utf8"),
    );

    const muted = async () => {
      const inhibited = await composed.firing("inhibited");
      return inhibited.map(({ alertname = "" }) => alertname).toSorted((left, right) => (left < right ? -1 : 1));
    };
    const family = { FlatlineIncident: { family: "regret" } };
    await composed.post(
      names.map((alertname) => ({ alertname, slug: "acme", ...family[alertname as keyof typeof family] })),
    );

    await eventually(async () => (await muted()).length > 0);
    expect(await muted()).toEqual([
      "FlatlineDeadAssetSpike",
      "FlatlineDeadAssetSpikeFail",
      "FlatlineDeadAssetSpikeWarn",
      "FlatlineRegretHigh",
    ]);
    await composed.post([{ alertname: "FlatlineIncident", family: "deaths", slug: "acme" }]);
    await eventually(async () => (await muted()).length > 4);
    expect(await muted()).toEqual([
      "FlatlineDeadAssetSpike",
      "FlatlineDeadAssetSpikeFail",
      "FlatlineDeadAssetSpikeWarn",
      "FlatlineFleetSpike",
      "FlatlineRegretHigh",
      "FlatlineSentinelDead",
    ]);
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

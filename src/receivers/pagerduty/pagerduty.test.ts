import { describe, expect, it } from "vitest";

import type { Notification } from "../../alerting/notify/notification.ts";
import { Secret } from "../../base/secret.ts";
import { sinkBench } from "../../../test/support/far-side/sink-bench.ts";
import { createPagerdutyReceiver, pagerdutyEvents } from "./pagerduty.ts";
import { sample } from "../../../test/support/notifications.ts";

const signal = new AbortController().signal;
const sink = sinkBench();

function open() {
  const options = {
    type: "pagerduty",
    name: "pager",
    url: new Secret(`${sink.url}/v2/enqueue`),
    routingKey: new Secret("R0UTINGKEY"),
  } as const;
  return createPagerdutyReceiver(options, sink);
}

async function deliver(notification: Notification) {
  return open().deliver(notification, { signal, nowMs: 0 });
}

function manyAlerts(count: number): Notification {
  const [alert] = sample("firing").alerts;
  if (alert === undefined) throw new Error("no alert");
  return {
    ...sample("firing"),
    alerts: Array.from({ length: count }, (_, index) => ({ ...alert, id: `alert-${index}` })),
  };
}

describe("createPagerdutyReceiver", () => {
  it("sends one event an alert, and shows no key that is echoed", async () => {
    sink.answer = (response, { body }) => response.writeHead(400).end(body);

    const outcome = await deliver(sample("firing"));

    expect(sink.requests.map(({ path }) => path)).toEqual(["/v2/enqueue"]);
    expect(JSON.parse(sink.requests[0]?.body ?? "")).toMatchObject({
      routing_key: "R0UTINGKEY",
      event_action: "trigger",
    });
    expect(outcome.kind).toBe("rejected");
    expect(JSON.stringify(outcome)).not.toContain("R0UTINGKEY");
  });

  it("stops when it is asked to wait, for the whole notification", async () => {
    sink.answer = (response) => response.writeHead(429, { "retry-after": "7" }).end();

    const outcome = await deliver(manyAlerts(50));

    expect(outcome).toMatchObject({ kind: "retry", retryAfterMs: 7_000 });
    expect(sink.requests).toHaveLength(1);
  });
});

describe("pagerdutyEvents", () => {
  it("acknowledges the incident under the key that is open now", () => {
    const group = sample("group");
    const { incident } = group;
    if (incident === null) throw new Error("no incident");
    const alerts = group.alerts.map((alert) => ({ ...alert, event: "acknowledged" }) as const);
    const acknowledged = { ...group, alerts, incident: { ...incident, outlived: 2 } };

    expect(pagerdutyEvents(acknowledged)).toEqual([{ event_action: "acknowledge", dedup_key: `${incident.id}.2` }]);
  });

  it("resolves every earlier key before it triggers: nothing may have been sent between two of them", () => {
    const group = sample("group");
    const { incident } = group;
    if (incident === null) throw new Error("no incident");
    const events = pagerdutyEvents({ ...group, incident: { ...incident, outlived: 2 } });

    expect(events.map((event) => `${event.event_action} ${event.dedup_key.slice(incident.id.length)}`)).toEqual([
      "resolve ",
      "resolve .1",
      "trigger .2",
    ]);
  });
});

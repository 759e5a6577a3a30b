import type { Agent } from "undici";
import { expect, it } from "vitest";

import { Secret } from "../../src/base/secret.ts";
import { hourMs, type Clock } from "../../src/base/time.ts";
import { createAlertmanagerReceiver } from "../../src/receivers/alertmanager/alertmanager.ts";
import { alertmanagerTool, startAlertmanager, webhookConfig } from "../support/alertmanager.ts";
import { startHttpSink, type HttpSink } from "../support/far-side/http-sink.ts";
import { nights } from "../support/nights.ts";

interface PostedAlert {
  readonly startsAt: string;
  readonly endsAt: string;
}

/** A way to an Alertmanager that lives by the real clock, for who lives by another: what it is sent is as far from now there. */
async function startTimeShift(url: string, clock: () => Clock | undefined): Promise<HttpSink> {
  return startHttpSink((response, { path, body }) => {
    const shiftMs = Date.now() - (clock()?.nowMs() ?? 0);
    const moved = (at: string): string => new Date(Date.parse(at) + shiftMs).toISOString();
    const alerts = (JSON.parse(body) as PostedAlert[]).map((alert) => ({
      ...alert,
      startsAt: moved(alert.startsAt),
      endsAt: moved(alert.endsAt),
    }));
    const headers = { "content-type": "application/json" };
    fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(alerts) }).then(
      ({ status }) => response.writeHead(status).end(),
      () => response.writeHead(502).end(),
    );
  });
}

it.skipIf(alertmanagerTool.isMissing)(
  `a night with all four receivers: what the others get, and what Alertmanager holds after each step${alertmanagerTool.note}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const nobody = await startHttpSink((response) => response.end());
    stack.defer(() => nobody.close());
    const alertmanager = stack.use(await startAlertmanager(webhookConfig(nobody.url)));
    let clock: Clock | undefined;
    const shift = await startTimeShift(alertmanager.url, () => clock);
    stack.defer(() => shift.close());
    const { open, organizations, steps } = nights.remote;
    const night = stack.use(
      await open({
        organizations,
        more: (of: Clock, dispatcher: Agent) => {
          clock = of;
          const urls = [new Secret(shift.url)];
          return createAlertmanagerReceiver(
            { type: "alertmanager", name: "am", urls, resendIntervalMs: hourMs },
            { dispatcher },
          );
        },
      }),
    );

    const held: Record<string, readonly string[]> = {};
    for (const [step, { take }] of Object.entries(steps)) {
      await take(night);
      const firing = await alertmanager.firing("active");
      held[step] = firing.map(({ alertname, severity, incident }) => `${alertname} ${severity}, ${incident}`);
    }

    await expect(await night.told()).toMatchFileSnapshot("nights/remote.txt");
    expect(held).toMatchInlineSnapshot(`
      {
        "a day later all are calm": [],
        "all are calm": [],
        "all of them do": [
          "FlatlineFleetSpike fail, 1",
        ],
        "half of them spike": [
          "FlatlineFleetSpike fail, 1",
        ],
        "kim has it": [
          "FlatlineFleetSpike fail, 1",
        ],
        "kim judges it": [],
      }
    `);
  },
);

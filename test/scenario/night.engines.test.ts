import { beforeAll, describe, expect, it } from "vitest";

import type { CrashPoint } from "../support/alerting-world.ts";
import { nights, type NightScript } from "../support/nights.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";

const receivers = ["bot", "chat", "pager"];

/** What the receivers of a few organizations were told in such a night, with a kill in one step of it or without. */
async function toldIn(
  { open, few, steps }: NightScript,
  engine: StoreEngineCase["engine"],
  kill?: { readonly step: string; readonly point: CrashPoint },
) {
  await using night = await open({ engine, organizations: few });
  const { world, slack, pagerduty } = night;
  for (const [step, { take }] of Object.entries(steps)) {
    if (step === kill?.step) world.crashAt(kill.point);
    await take(night);
    if (step === kill?.step) expect(world.processes).toBe(2);
  }
  const ids = receivers.flatMap((name) => world.notifications(name).map(({ incident }) => incident?.id));
  const keys = pagerduty.requests.map(({ body }) => (JSON.parse(body) as { readonly dedup_key: string }).dedup_key);
  return {
    sent: receivers.map((name) => world.sent(name).map((entries) => entries.toSorted())),
    incidents: new Set([...ids, ...keys]).size,
    messages: slack.ofBot.length,
    open: await world.store.incidents.open(),
  };
}

describe.each(storeEngines)("on $engine,", ({ engine }) => {
  // Thousands of requests over real sockets: also on a machine that is busy with other things.
  it.each(Object.values(nights))("$what", { timeout: 120_000 }, async ({ name, open, organizations, steps }) => {
    await using night = await open({ engine, organizations });
    for (const { take } of Object.values(steps)) await take(night);

    await expect(await night.told()).toMatchFileSnapshot(`nights/${name}.txt`);
    expect(await night.world.store.incidents.open()).toEqual([]);
  });

  describe.each([nights.remote, nights.unreachable])(
    "of the night $name nothing is lost or said under another id by a kill",
    (script) => {
      let told: Awaited<ReturnType<typeof toldIn>>;
      beforeAll(async () => {
        told = await toldIn(script, engine);
        expect(told).toMatchObject({ incidents: 1, messages: 1, open: [] });
      });

      const kills = Object.entries(script.steps).flatMap(([step, { kills: points }]) =>
        points.map((point) => ({ step, point })),
      );
      it.each(kills)("while $step, where it is $point", async (kill) => {
        expect(await toldIn(script, engine, kill)).toEqual(told);
      });
    },
  );
});

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

import { describe, expect, it } from "vitest";

import { minuteMs, secondMs } from "../../base/time.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { harnessNowMs, nobody, token, useWebs, type RunningWeb } from "../../../test/support/web-harness.ts";
import { createPageCost } from "./live.ts";

const start = useWebs();

/** An open answer of `/events`. */
interface Stream {
  readonly text: () => string;
  readonly ended: Promise<unknown>;
}

async function openStream(
  web: RunningWeb,
  headers: Readonly<Record<string, string>> = {},
  path = "/events",
): Promise<Stream> {
  const request = get(`${web.url}${path}`, { agent: false, headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { text: () => text, ended: once(response, "end") };
}

const changesIn = (stream: Stream): number => stream.text().split("event: change").length - 1;

describe("the stream of changes", () => {
  it("of a session ends after 15 minutes, so that who has signed out is asked again", async () => {
    const clock = createVirtualClock({ startMs: harnessNowMs });
    const web = await start({ clock });
    const signIn = await fetch(`${web.url}/sign-in`, {
      method: "POST",
      redirect: "manual",
      headers: { "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({ token, name: "dana" }),
    });
    const stream = await openStream(web, { cookie: signIn.headers.getSetCookie()[0]?.split(";")[0] ?? "" });

    await clock.advanceUntil(() => stream.text().includes("event: change"));
    await clock.advance(15 * minuteMs);

    await stream.ended;
    expect(stream.text()).toContain("event: hello");
  });

  it("of a proxy's user ends after 15 minutes, so that the proxy is asked again; any other goes on", async () => {
    const clock = createVirtualClock({ startMs: harnessNowMs });
    const web = await start({ clock });
    const groups = {
      userHeader: "x-user",
      groupsHeader: "x-groups",
      may: { ops: ["read"] },
      organizations: {},
    } as const;
    web.world.access = { ...nobody, trustedProxy: { from: ["127.0.0.1"], ...groups } };
    const user = await openStream(web, { "x-user": "ada", "x-groups": "ops" });
    const anybody = await openStream(web);
    let hasEnded = false;
    void user.ended.then(() => (hasEnded = true));

    await clock.advanceUntil(() => changesIn(user) > 0);
    await clock.advance(14 * minuteMs);
    expect(hasEnded).toBe(false);
    await clock.advance(minuteMs);
    await user.ended;
    const before = anybody.text().length;
    await clock.advance(minuteMs);
    await clock.settleUntil(() => anybody.text().length > before);

    expect(web.world.logged).toEqual([]);
  });

  it("says that something has changed, not what, and the instant", async () => {
    const clock = createVirtualClock({ startMs: harnessNowMs });
    const web = await start({ clock });
    const stream = await openStream(web);
    await clock.advanceUntil(() => changesIn(stream) === 1);

    for (let change = 0; change < 5; change++) for (const changed of web.world.subscribers) changed();
    await clock.advanceUntil(() => changesIn(stream) === 2);

    expect(stream.text()).toMatch(/event: hello\ndata: \d+\n\nevent: change\ndata: \{"nowMs":\d+\}\n\n/);
    await clock.advance(4 * secondMs);
    expect(changesIn(stream)).toBe(2);
  });

  it("tells a reader whose page is older than the last change at once, and no other", async () => {
    const clock = createVirtualClock({ startMs: harnessNowMs });
    const web = await start({ clock });
    const first = await openStream(web);
    await clock.settleUntil(() => changesIn(first) === 1);
    await clock.advance(minuteMs);
    for (const changed of web.world.subscribers) changed();
    const changedMs = clock.nowMs();
    await clock.advance(4 * secondMs);

    const old = await openStream(web, {}, `/events?since=${changedMs}`);
    const fresh = await openStream(web, {}, `/events?since=${changedMs + 1}`);
    await clock.settleUntil(() => changesIn(old) === 1 && fresh.text().includes("event: hello"));
    await clock.advance(4 * secondMs);

    expect([changesIn(old), changesIn(fresh)]).toEqual([1, 0]);
  });
});

describe("what a page costs", () => {
  it("is the time in which any is made, shared by all of them", async () => {
    const clock = createVirtualClock({ startMs: harnessNowMs });
    const cost = createPageCost(clock);
    expect(cost.meanMs()).toBe(0);

    const made = Promise.all([
      cost.during(clock.sleep(60)),
      cost.during(clock.sleep(60)),
      cost.during(clock.sleep(30)),
    ]);
    await clock.advance(60);
    await made;

    expect(cost.meanMs()).toBe(20);
  });
});

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

import { describe, expect, it } from "vitest";

import { minuteMs } from "../../base/time.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { harnessNowMs, nobody, useWebs, type RunningWeb, token } from "../../../test/support/web-harness.ts";

const start = useWebs();

/** An open answer of `/events`. */
interface Stream {
  readonly text: () => string;
  readonly ended: Promise<unknown>;
}

async function openStream(web: RunningWeb, headers: Readonly<Record<string, string>> = {}): Promise<Stream> {
  const request = get(`${web.url}/events`, { agent: false, headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { text: () => text, ended: once(response, "end") };
}

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

    await clock.advanceUntil(() => user.text().includes("event: change") && anybody.text().includes("event: change"));
    await clock.advance(14 * minuteMs);
    expect(hasEnded).toBe(false);
    await clock.advance(minuteMs);
    await user.ended;
    const before = anybody.text().length;
    await clock.advance(minuteMs);
    await clock.settleUntil(() => anybody.text().length > before);

    expect(web.world.logged).toEqual([]);
  });

  it("writes nothing to a page that was ended while its model was read, and goes on for the others", async () => {
    const clock = createVirtualClock({ startMs: harnessNowMs });
    const web = await start({ clock });
    const reads: (() => void)[] = [];
    web.world.beforeRead = () => new Promise((resolve) => reads.push(resolve));
    const early = await openStream(web);
    await clock.settleUntil(() => reads.length === 1);

    // A reload, and in the same moment the model is there: the page's answer has ended, its connection has not.
    web.world.access = { ...nobody, publicRead: true };
    for (const changed of web.world.subscribers) changed();
    web.world.beforeRead = async () => undefined;
    for (const read of reads) read();
    await early.ended;
    const late = await openStream(web);
    await clock.advanceUntil(() => late.text().includes("event: change"));

    expect(early.text()).not.toContain("event: change");
    expect(web.world.logged).toEqual([]);
  });
});

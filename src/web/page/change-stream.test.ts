import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { harnessNowMs, nobody, useWebs, type RunningWeb } from "../../../test/support/web-harness.ts";

const start = useWebs();

/** An open answer of `/events`. */
interface Stream {
  readonly text: () => string;
  readonly ended: Promise<unknown>;
}

async function openStream(web: RunningWeb): Promise<Stream> {
  const request = get(`${web.url}/events`, { agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { text: () => text, ended: once(response, "end") };
}

describe("the stream of changes", () => {
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

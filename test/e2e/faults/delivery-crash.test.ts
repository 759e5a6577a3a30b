import { expect, it } from "vitest";

import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually, startDaemon, startProgram } from "../../support/program/program.ts";

const folder = useDaemonFolder();

it("kill -9 after the receiver's 200 and before that is noted: again under its id", async () => {
  const sink = await startHttpSink((response, _request, index) => {
    // Stopped before it is answered: the 200 is on its way, and nobody will ever read it.
    if (index === 0) killed.signal("SIGSTOP");
    response.end("ok", () => void killed.kill());
  });
  await folder.configure(`
organizations: [acme]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}", timeout: 1s }]
server: { listen: "127.0.0.1:0" }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await using killed = startProgram(["run"], { cwd: folder.path });
  await killed.ended();
  expect(sink.requests).toHaveLength(1);

  await using again = await startDaemon([], { cwd: folder.path });
  await eventually(() => folder.withStore(async ({ outbox }) => (await outbox.list()).length === 0));

  const [first, second] = sink.requests;
  expect(sink.requests).toHaveLength(2);
  expect(second?.headers["webhook-id"]).toBe((JSON.parse(first?.body ?? "") as { readonly id: string }).id);
  expect(second?.body).toBe(first?.body);
  await again.kill();
  await sink.close();
});

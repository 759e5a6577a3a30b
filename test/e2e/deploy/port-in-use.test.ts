import { createServer, type AddressInfo } from "node:net";

import { expect, it } from "vitest";

import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { startProgram } from "../../support/program/program.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

it("a daemon whose port is taken says so once and ends, before it has run a check; started again it runs once the port is free", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const upstream = await startScriptedUpstream();
  upstream.otherwise(() => ({ kind: "hang" }));
  await using folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
organizations: [acme]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:${port}" }
storage: { path: flatline.db }
`);

  await using program = startProgram(["run"], { cwd: folder.path });
  const { exitCode, stderr } = await program.ended();

  expect(exitCode).toBe(69);
  expect(stderr).toMatch(
    new RegExp(
      `^flatline: cannot listen on 127.0.0.1:${port}: the port is taken: is another flatline running\\? .*\n$`,
    ),
  );
  expect(upstream.requests).toEqual([]);

  await new Promise((resolve) => taken.close(resolve));
  await using again = startProgram(["run"], { cwd: folder.path });
  await again.untilLogged("flatline started");
  await upstream.received(1);
  await upstream.close();
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createSystemClock } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { startLookWorld } from "../../support/look/look-world.ts";
import { nightOfDeaths, urlsOf } from "../../support/look/night-of-deaths.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, startDaemon, stopProgram } from "../../support/program/program.ts";

const clock = createSystemClock();
const sample = 6;

it("begins a look again whose daemon was killed in the middle, with other hosts, and leaves no prober behind", async () => {
  await using world = await startLookWorld({ pages: (host) => (host.startsWith("up") ? "a page" : undefined) });
  await using folder = await makeProgramFolder(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [acme]
secondOpinion:
  sample: ${sample}
  control: 0
  dns: { servers: ["${world.dns.address}"] }
  http: { proxy: "${world.proxy.url}" }
server: { listen: "127.0.0.1:0", token: a-token-of-the-tests }
storage: { path: flatline.db }
`);
  const withStore = async <Result>(work: (store: Store) => Promise<Result>): Promise<Result> => {
    const store = await openStore({ path: join(folder.path, "flatline.db"), clock });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  await withStore((store) => store.events.add(nightOfDeaths("acme", clock.nowMs(), { dead: urlsOf("up", 60) })));

  const killed = await startDaemon([], { cwd: folder.path });
  const before = await eventually(async () => {
    const answers = await withStore(({ looks }) => looks.answersOf({ incidentNumber: 1, number: 1 }));
    return answers.length >= 2 && answers.length < sample ? answers : null;
  });
  const children = readFileSync(`/proc/${killed.pid}/task/${killed.pid}/children`, "utf8").trim().split(" ");
  await killed.kill();
  expect(children).toHaveLength(1);
  await eventually(() => !existsSync(`/proc/${children[0]}`));

  await using daemon = await startDaemon([], { cwd: folder.path });
  const page = await fetch(`${daemon.url}/incidents/1`);
  expect(await page.text()).toMatch(/Looking, \d of 6/);
  // As if the five minutes had passed in which the process could still be alive.
  await withStore(async ({ looks }) => {
    const [look] = await looks.of(1);
    expect(look).toMatchObject({ endedAtMs: null, planned: sample });
    if (look !== undefined) await looks.save({ ...look, leaseUntilMs: 0 });
  });
  const opinion = await eventually(() =>
    withStore(async ({ incidents }) => (await incidents.find(1))?.secondOpinion ?? null),
  );

  expect(opinion).toMatchObject({ asked: sample, alive: sample, look: 1 });
  const answers = await withStore(({ looks }) => looks.answersOf({ incidentNumber: 1, number: 1 }));
  expect(answers).toHaveLength(sample);
  const again = new Set(answers.map(({ asset }) => asset));
  expect(before.filter(({ asset }) => again.has(asset))).toStrictEqual([]);
  expect(await withStore(({ looks }) => looks.of(1))).toHaveLength(1);
  expect(await stopProgram(daemon)).toMatchObject({ exitCode: 0 });
});

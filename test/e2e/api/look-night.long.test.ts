import { join } from "node:path";

import { expect, it } from "vitest";

import { createSystemClock, minuteMs } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import { pageAddress, startLookWorld } from "../../support/look/look-world.ts";
import { nightOfDeaths, urlsOf } from "../../support/look/night-of-deaths.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, startDaemon } from "../../support/program/program.ts";

const clock = createSystemClock();
const token = "a-token-of-the-tests";

it(
  "refutes the deaths of a broken checker by DNS, proxy and pages, with sixty assets in a minute",
  async () => {
    await using world = await startLookWorld({ pages: (host) => (host.startsWith("up") ? "a page" : undefined) });
    await using folder = await makeProgramFolder(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [acme, globex]
alerting: { fleet: false }
secondOpinion:
  dns: { servers: ["${world.dns.address}"] }
  http: { proxy: "${world.proxy.url}" }
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
    const store = await openStore({ path: join(folder.path, "flatline.db"), clock });
    for (const slug of ["acme", "globex"])
      await store.events.add(
        nightOfDeaths(slug, clock.nowMs(), {
          dead: [...urlsOf(`up-${slug}`, 60), ...urlsOf(`no-${slug}`, 10)],
          alive: urlsOf(`up-alive-${slug}`, 20),
          longDead: urlsOf(`no-long-${slug}`, 20),
        }),
      );
    await store.close();

    await using daemon = await startDaemon([], { cwd: folder.path });
    const read = async (): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${daemon.url}/api/v1/incidents/1`, { headers: { authorization: `Bearer ${token}` } });
      return (await answer.json()) as Record<string, unknown>;
    };
    const incident = await eventually(async () => {
      const body = await read();
      return body["secondOpinion"] ? body : null;
    }, 2 * minuteMs);

    expect(incident).toMatchObject({ likelyCause: "checker", secondOpinion: { asked: 20, verdict: "refuted" } });
    const { finding, answers } = incident["secondOpinion"] as { finding: string; answers: readonly object[] };
    expect(finding).toMatch(/^\d+ of 20 still answer; of 20 known to be alive 20 do, of 20 long dead 0$/);
    expect(answers).toHaveLength(60);
    // Each host once, and each page at the address that was resolved and checked.
    const hosts = world.requests.map(({ headers }) => headers.host);
    expect(new Set(hosts).size).toBe(hosts.length);
    expect(new Set(world.proxy.asked.map(({ authority }) => authority))).toStrictEqual(new Set([`${pageAddress}:443`]));
    expect(new Set(world.dns.asked).size).toBe(60);
    expect(daemon.log().filter(({ level }) => level === "error")).toStrictEqual([]);
  },
  3 * minuteMs,
);

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { createSystemClock } from "../../../src/base/time.ts";
import { makeDaemonFolder } from "../../support/program/daemon.ts";
import { eventually, startDaemon, type Daemon } from "../../support/program/program.ts";
import { isLong } from "../../support/tier.ts";

// Acknowledgements, comments and judgements all count towards the 1,000 comments that an alert may have.
const kills = isLong ? 50 : 4;
const lanes = 3;
const clock = createSystemClock();
const headers = { authorization: "Bearer root", "content-type": "application/json" };

/** An act that carries `text`: what is sent, and where in the store its effect is found by that text. */
interface Act {
  readonly action: string;
  readonly path: (alertId: string) => string;
  readonly body: (text: string) => object;
  readonly effect: string;
}

const acts: readonly Act[] = [
  {
    action: "comment",
    path: (id) => `/api/v1/alerts/${id}/comments`,
    body: (comment) => ({ comment }),
    effect: "select count(*) as n from comments where act is null and text = ?",
  },
  {
    action: "acknowledge",
    path: (id) => `/api/v1/alerts/${id}/ack`,
    body: (comment) => ({ comment }),
    effect: "select count(*) as n from comments where act = 'acknowledge' and text = ?",
  },
  {
    action: "judgement",
    path: (id) => `/api/v1/alerts/${id}/judgement`,
    body: (comment) => ({ verdict: "checker", comment }),
    effect: "select count(*) as n from judgements where comment = ?",
  },
  {
    action: "release",
    path: () => "/api/v1/gate/acme/release",
    body: (comment) => ({ comment }),
    effect: "select count(*) as n from gate_releases where comment = ?",
  },
  {
    action: "silence.create",
    path: () => "/api/v1/silences",
    body: (comment) => ({ slug: "acme", endsAt: "2090-01-01T00:00:00Z", comment }),
    effect: "select count(*) as n from silences where comment = ?",
  },
  {
    action: "marker.create",
    path: () => "/api/v1/markers",
    body: (text) => ({ slug: "acme", text }),
    effect: "select count(*) as n from markers where text = ?",
  },
];

interface Tried {
  readonly act: Act;
  readonly text: string;
  readonly isAnswered: boolean;
}

/** Acts one after the other until the daemon is gone. */
async function actUntilGone(daemon: Daemon, alertId: string, lane: string, tried: Tried[]): Promise<void> {
  for (let index = 0; ; index++) {
    const act = acts[index % acts.length];
    if (act === undefined) throw new Error("no acts");
    const text = `${lane} ${index}`;
    const request = { method: "POST", headers, body: JSON.stringify(act.body(text)) };
    const answer = await fetch(daemon.url + act.path(alertId), request).catch(() => null);
    tried.push({ act, text, isAnswered: answer !== null });
    if (answer === null) return;
    expect([act.action, answer.status]).toEqual([act.action, answer.status < 300 ? answer.status : "2xx"]);
    // The body may be cut off: it was answered all the same.
    await answer.text().catch(() => "");
  }
}

it(
  `each act leaves exactly one audit row, or neither effect nor row, though the daemon is killed ${kills} times amid them`,
  { timeout: kills * 20_000 + 60_000 },
  async () => {
    const folder = await makeDaemonFolder();
    await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [{ slug: acme, receivers: [] }]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:0", token: root }
storage: { path: flatline.db }
`);
    await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
    const tried: Tried[] = [];

    for (let kill = 0; kill < kills; kill++) {
      await using daemon = await startDaemon([], { cwd: folder.path });
      const alertId = await eventually(async () => {
        const { alerts } = (await (await fetch(`${daemon.url}/api/v1/alerts`)).json()) as { alerts: { id: string }[] };
        return alerts[0]?.id ?? null;
      });
      const before = tried.length;
      const acting = Array.from({ length: lanes }, (_, lane) =>
        actUntilGone(daemon, alertId, `${kill}-${lane}`, tried),
      );
      // At another moment of an act each time.
      await eventually(async () => tried.length >= before + 12);
      await clock.sleep((kill * 7) % 23);
      await daemon.kill();
      await Promise.all(acting);
    }

    const database = new DatabaseSync(join(folder.path, "flatline.db"), { readOnly: true });
    const rows = database.prepare(
      "select count(*) as n from audit where action = ? and coalesce(detail ->> '$.comment', detail ->> '$.text') = ?",
    );
    const count = (found: Record<string, unknown> | undefined): number => Number(found?.["n"]);
    const wrong = tried.flatMap(({ act, text, isAnswered }) => {
      const row = count(rows.get(act.action, text));
      const effect = count(database.prepare(act.effect).get(text));
      return row === effect && row <= 1 && (row === 1 || !isAnswered) ? [] : [{ act: act.action, text, row, effect }];
    });
    database.close();
    await folder.close();

    expect(wrong).toEqual([]);
    expect(tried.filter(({ isAnswered }) => isAnswered).length).toBeGreaterThanOrEqual(12 * kills);
    expect(tried.filter(({ isAnswered }) => !isAnswered)).toHaveLength(lanes * kills);
  },
);

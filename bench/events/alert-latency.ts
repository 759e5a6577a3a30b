import { once } from "node:events";
import { writeFile, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";

import { createSystemClock } from "../../src/base/time.ts";
import { startDaemon, type BenchDaemon } from "../daemon.ts";

/** A daemon whose alert can be made to fire again and again. */
export interface AlertingDaemon {
  readonly folder: string;
  /** Milliseconds from the start of the run that fires to the arrival at the receiver, of an alert that names `sample` assets. */
  fire(sample: number): Promise<number>;
  stop(): Promise<void>;
}

const clock = createSystemClock();
const answerWithinMs = 60_000;

/**
 * Starts it over the events that `prepare` stores for acme; a check comes each second. Its window is six hours: of a day of looks
 * the other evidence takes seconds, in which what the sample takes would be lost.
 */
export async function startAlertingDaemon(prepare: (folder: string) => Promise<void>): Promise<AlertingDaemon> {
  const receiver = await startReceiver();
  const config = (sample: number, multiplier: number): string => `
source: { type: embedded }
defaults: { schedule: "* * * * * *", attributionDays: 1, thresholds: { windowHours: 6, warnMultiplier: ${multiplier}, failMultiplier: ${multiplier}, minSpikeCount: 1 } }
organizations: [acme]
alerting: { groupWait: 0s, groupInterval: 0s, sample: ${sample} }
receivers: [{ name: ops, type: webhook, url: "${receiver.url}" }]
`;
  const daemon = await startDaemon({ config: config(0, quiet), prepare, readyWithinMs: answerWithinMs * 5 });
  const file = join(daemon.folder, "flatline.yaml");
  const own = (await readFile(file, "utf8")).slice(config(0, quiet).length);
  const reload = async (sample: number, multiplier: number): Promise<void> => {
    await writeFile(file, config(sample, multiplier) + own);
    process.kill(daemon.pid, "SIGHUP");
  };
  return {
    folder: daemon.folder,
    fire: async (sample) => {
      const firing = receiver.next("firing");
      await reload(sample, loud);
      const { startsAt, named, receivedAtMs } = await firing;
      if (named > 0 !== sample > 0) throw new Error(`the alert names ${named} assets, of at most ${sample}`);
      const resolved = receiver.next("resolved");
      await reload(sample, quiet);
      await resolved;
      return receivedAtMs - Date.parse(startsAt);
    },
    stop: () => stopAll(daemon, receiver.server),
  };
}

// The deaths are spread evenly: above half of what is expected, never above a thousand times of it.
const loud = 0.5;
const quiet = 1_000;

interface Message {
  readonly startsAt: string;
  readonly named: number;
  readonly receivedAtMs: number;
}

async function startReceiver() {
  let wanted: { readonly status: string; readonly resolve: (sent: Message) => void } | null = null;
  const server = createServer((request, response) => {
    const receivedAtMs = clock.nowMs();
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      response.end();
      const { status, alerts } = JSON.parse(body) as {
        status: string;
        alerts: { startsAt: string; sample: unknown[] }[];
      };
      const [alert] = alerts;
      if (wanted?.status === status && alert !== undefined)
        wanted.resolve({ startsAt: alert.startsAt, named: alert.sample.length, receivedAtMs });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    server,
    url: `http://127.0.0.1:${port}/`,
    next: (status: string): Promise<Message> =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${status} arrived`)), answerWithinMs);
        wanted = {
          status,
          resolve: (sent) => {
            clearTimeout(timer);
            resolve(sent);
          },
        };
      }),
  };
}

async function stopAll(daemon: BenchDaemon, server: Server): Promise<void> {
  await daemon.stop();
  server.closeAllConnections();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
}

import { join } from "node:path";

import { createSystemClock, minuteMs, secondMs } from "../../src/base/time.ts";
import { tempFolder } from "../processes.ts";
import { alertmanagerMessage, flatlineMessage, secondsUntil, type Message } from "./messages.ts";
import { startRecordedPlatform, type RecordedPlatform, type Stretch } from "./platform.ts";
import { logOf, type DayResult, type OutageResult, type Pace } from "./report.ts";
import { startServer, type Server } from "./server.ts";
import { startMonitor, wireFlatline, wirePeer, type Monitor, type Wiring } from "./wiring.ts";

// The checker that both lists shared broke in the night to 2019-10-18. By the API's rule lightswitch is not ok from 02:30 on to
// 18:00 of the next day, riskhosts from 10:30 to 10:30.
const broken = "lightswitch";
const brokenForADay = "riskhosts";
const at = (time: string): number => Date.parse(time);
const beforeMs = at("2019-10-18T00:00Z");
const wholeDay: Stretch = { fromMs: beforeMs, toMs: at("2019-10-19T20:00Z") };
const untilBothFire: Stretch = { fromMs: beforeMs, toMs: at("2019-10-18T20:00Z") };
const untilOneEnded: Stretch = { fromMs: beforeMs, toMs: at("2019-10-19T12:00Z") };
const clock = createSystemClock();

/** One of the two that are compared, in a world. */
export interface Watcher {
  readonly monitor: Monitor;
  /** What the receiver accepted from it so far; of the peer by one way to group. */
  readonly messages: (path?: string) => readonly Message[];
}

/** What there is, or was measured, of both. */
export interface Compared<Result> {
  readonly flatline: Result;
  readonly peer: Result;
}

/** A platform and a receiver, and both monitors between them. */
export interface World extends Compared<Watcher> {
  readonly platform: RecordedPlatform;
  readonly receiver: Server;
}

/** Starts both monitors of a platform. Not two at once: both could be given the same port. */
export async function startWatchers(
  wiring: Omit<Wiring, "folder">,
  receiver: Server,
  groupings: Readonly<Record<string, string>>,
  releases: AsyncDisposableStack,
): Promise<Compared<Watcher>> {
  const folder = await tempFolder(releases);
  const sentTo = (path: string) => receiver.received.filter((one) => one.path === `/${path}`);
  const own = await startMonitor(await wireFlatline({ ...wiring, folder: join(folder, "flatline") }), releases);
  const programs = await wirePeer({ ...wiring, folder: join(folder, "peer") }, groupings);
  const peer = await startMonitor(programs, releases);
  return {
    flatline: { monitor: own, messages: () => sentTo("flatline").map(flatlineMessage) },
    peer: { monitor: peer, messages: (path = "peer") => sentTo(path).map(alertmanagerMessage) },
  };
}

/** Starts a world of the recorded day. */
export async function startWorld(pace: Pace, releases: AsyncDisposableStack): Promise<World> {
  const receiver = await startServer(() => ({}));
  releases.defer(() => receiver.down());
  const platform = await startRecordedPlatform(beforeMs, pace.hourTakesMs);
  releases.defer(() => platform.down());
  const wiring = { ...pace, platformUrl: platform.url, receiverUrl: receiver.url, slugs: platform.slugs };
  return { platform, receiver, ...(await startWatchers(wiring, receiver, { peer: "[alertname]" }, releases)) };
}

/** Plays the whole day to both, then half of it, with a restart of each kind while both lists fire. */
export async function playDay({ platform, ...world }: World, pace: Pace): Promise<Compared<DayResult>> {
  await clock.sleep(pace.warmUpMs);
  const before = both(world, ({ monitor }) => monitor.usage().cpuSeconds);
  const startedAtMs = Date.now();
  await until(platform.play(wholeDay));
  const brokenAtMs = platform.brokenAtMs();
  await clock.sleep(pace.settleMs);
  const minutes = (Date.now() - startedAtMs) / minuteMs;
  const day = both(world, ({ monitor, messages }, name) => ({
    messages: logOf(messages(), brokenAtMs),
    cpuSecondsPerMinute: (monitor.usage().cpuSeconds - before[name]) / minutes,
    residentBytes: monitor.usage().residentBytes,
  }));
  await until(platform.play(untilBothFire));
  await clock.sleep(pace.settleMs);
  const againAtMs = platform.brokenAtMs();
  const first = both(world, ({ messages }) =>
    [brokenAtMs, againAtMs].map((atMs) => secondsUntil(messages(), broken, "firing", atMs)),
  );
  // The platform stands still: whatever comes was said before.
  const repeated = async (signal: "SIGTERM" | "SIGKILL"): Promise<Compared<number>> => {
    const said = both(world, ({ messages }) => messages().length);
    await Promise.all([world.flatline.monitor.restart(signal), world.peer.monitor.restart(signal)]);
    await clock.sleep(pace.restartMs);
    return both(world, ({ messages }, name) => messages().length - said[name]);
  };
  const afterKill = await repeated("SIGKILL");
  const afterStop = await repeated("SIGTERM");
  return both(world, (_, name) => ({
    ...day[name],
    firstSeconds: first[name],
    repeatedAfterKill: afterKill[name],
    repeatedAfterStop: afterStop[name],
  }));
}

/** Breaks the checker while the receiver is down: when it is back, one list is ok again, the other still fires. */
export async function playOutage({ platform, receiver, ...world }: World, pace: Pace): Promise<Compared<OutageResult>> {
  await clock.sleep(pace.warmUpMs);
  await receiver.down();
  platform.play(untilOneEnded);
  await clock.sleep(pace.outageMs);
  await receiver.up();
  const backAtMs = Date.now();
  const results = (): Compared<OutageResult> =>
    both(world, ({ messages }) => ({
      messages: logOf(messages(), backAtMs),
      stillFiringSeconds: secondsUntil(messages(), broken, "firing", backAtMs),
      endedFiringSeconds: secondsUntil(messages(), brokenForADay, "firing", backAtMs),
      endedResolvedSeconds: secondsUntil(messages(), brokenForADay, "resolved", backAtMs),
    }));
  const isComplete = ({ flatline, peer }: Compared<OutageResult>): boolean =>
    ![peer.stillFiringSeconds, flatline.stillFiringSeconds, flatline.endedResolvedSeconds].includes(null);
  while (!isComplete(results()) && Date.now() < backAtMs + pace.lateMs) await clock.sleep(secondMs);
  await clock.sleep(pace.settleMs);
  return results();
}

function both<Result>(
  { flatline, peer }: Compared<Watcher>,
  of: (watcher: Watcher, name: keyof Compared<Watcher>) => Result,
): Compared<Result> {
  return { flatline: of(flatline, "flatline"), peer: of(peer, "peer") };
}

function until(atMs: number): Promise<void> {
  return clock.sleep(Math.max(atMs - Date.now(), 0));
}

import { join } from "node:path";

import { createSystemClock, minuteMs, secondMs } from "../../src/base/time.ts";
import { tempFolder } from "../processes.ts";
import { alertmanagerMessage, flatlineMessage, secondsUntil, type Message } from "./messages.ts";
import { startPlatform, type RecordedPlatform, type Stretch } from "./platform.ts";
import type { OutageReport, SideReport } from "./report.ts";
import { startServer, type Server } from "./server.ts";
import { startMonitor, wireFlatline, wirePeer, type Monitor } from "./wiring.ts";

/** How fast the day passes, and how both are configured. */
export interface Pace {
  readonly intervalSeconds: number;
  readonly groupWaitSeconds: number;
  readonly groupIntervalSeconds: number;
  /** How long a recorded hour takes. */
  readonly hourTakesMs: number;
  readonly warmUpMs: number;
  /** Longer than the group interval: afterwards nothing is still to be sent. */
  readonly settleMs: number;
  /** Longer than what Prometheus needs after a start until Alertmanager has the alerts, with the group wait: 72 s. */
  readonly restartMs: number;
  readonly outageMs: number;
  /** How long a message may take once the receiver is back: flatline's longest pause between two attempts, and some. */
  readonly lateMs: number;
}

// The checker that both lists shared broke in the night to 2019-10-18. By the API's rule lightswitch is not ok from
// 02:27 on to 18:00 of the next day, riskhosts from 10:26 to 10:30.
const broken = "lightswitch";
const firstBrokenMs = Date.parse("2019-10-18T02:27Z");
const brokenForADay = "riskhosts";
const beforeMs = Date.parse("2019-10-18T00:00Z");
const wholeDay = until("2019-10-19T20:00Z");
const untilBothFire = until("2019-10-18T20:00Z");
const untilOneEnded = until("2019-10-19T12:00Z");
const clock = createSystemClock();

/** One of the two that are compared. */
interface Watcher {
  readonly monitor: Monitor;
  /** What the receiver accepted from it so far. */
  readonly messages: () => readonly Message[];
}

/** What there is, or was measured, of flatline and of the peer. */
type Both<Of> = readonly [Of, Of];

/** A platform and a receiver, and both monitors between them. */
export interface World {
  readonly platform: RecordedPlatform;
  readonly receiver: Server;
  readonly watchers: Both<Watcher>;
}

/** Starts a world of the recorded day. Not two at once: both could be given the same port. */
export async function startWorld(pace: Pace, releases: AsyncDisposableStack): Promise<World> {
  const receiver = await startServer(() => ({}));
  releases.defer(() => receiver.down());
  const platform = await startPlatform(beforeMs, pace.hourTakesMs);
  releases.defer(() => platform.down());
  const wiring = { ...pace, platformUrl: platform.url, receiverUrl: receiver.url, slugs: platform.slugs };
  const folder = await tempFolder(releases);
  const sentTo = (path: string) => receiver.received.filter((one) => one.path === path);
  const own = await startMonitor(await wireFlatline({ ...wiring, folder: join(folder, "flatline") }), releases);
  const peer = await startMonitor(await wirePeer({ ...wiring, folder: join(folder, "peer") }), releases);
  const watchers: Both<Watcher> = [
    { monitor: own, messages: () => sentTo("/flatline").map(flatlineMessage) },
    { monitor: peer, messages: () => sentTo("/peer").map(alertmanagerMessage) },
  ];
  return { platform, receiver, watchers };
}

/** Plays the whole day to both, then half of it, with a restart while both lists fire. */
export async function playDay({ platform, watchers }: World, pace: Pace): Promise<Both<SideReport>> {
  await clock.sleep(pace.warmUpMs);
  const before = ofBoth(watchers, ({ monitor }) => monitor.usage().cpuSeconds);
  const startedAtMs = Date.now();
  const onDay = platform.play(wholeDay);
  await sleepUntil(onDay(wholeDay.toMs));
  await clock.sleep(pace.settleMs);
  const minutes = (Date.now() - startedAtMs) / minuteMs;
  const day = ofBoth(watchers, ({ monitor, messages }, side) => ({
    messages: messages().length,
    text: messages()[0]?.text ?? "nothing",
    cpuSecondsPerMinute: (monitor.usage().cpuSeconds - before[side]) / minutes,
    residentBytes: monitor.usage().residentBytes,
  }));
  const onDayAgain = platform.play(untilBothFire);
  await sleepUntil(onDayAgain(untilBothFire.toMs));
  await clock.sleep(pace.settleMs);
  const first = ofBoth(watchers, ({ messages }) =>
    [onDay, onDayAgain].map((on) => secondsUntil(messages(), broken, "firing", on(firstBrokenMs))),
  );
  // The platform stands still: whatever comes was said before.
  const said = ofBoth(watchers, ({ messages }) => messages().length);
  await Promise.all(watchers.map(({ monitor }) => monitor.restart()));
  await clock.sleep(pace.restartMs);
  return ofBoth(watchers, ({ messages }, side) => {
    const repeated = messages().length - said[side];
    return { ...day[side], firstSeconds: first[side], repeated };
  });
}

/** Breaks the checker while the receiver is down: when it is back, one list is ok again, the other still fires. */
export async function playOutage({ platform, receiver, watchers }: World, pace: Pace): Promise<Both<OutageReport>> {
  await clock.sleep(pace.warmUpMs);
  await receiver.down();
  platform.play(untilOneEnded);
  await clock.sleep(pace.outageMs);
  await receiver.up();
  const backAtMs = Date.now();
  const results = (): Both<OutageReport> =>
    ofBoth(watchers, ({ messages }) => ({
      stillFiringSeconds: secondsUntil(messages(), broken, "firing", backAtMs),
      endedFiringSeconds: secondsUntil(messages(), brokenForADay, "firing", backAtMs),
      endedResolvedSeconds: secondsUntil(messages(), brokenForADay, "resolved", backAtMs),
    }));
  const isComplete = ([flatline, peer]: Both<OutageReport>): boolean =>
    ![peer.stillFiringSeconds, flatline.stillFiringSeconds, flatline.endedResolvedSeconds].includes(null);
  while (!isComplete(results()) && Date.now() < backAtMs + pace.lateMs) await clock.sleep(secondMs);
  await clock.sleep(pace.settleMs);
  return results();
}

function ofBoth<Result>([flatline, peer]: Both<Watcher>, of: (watcher: Watcher, side: 0 | 1) => Result): Both<Result> {
  return [of(flatline, 0), of(peer, 1)];
}

function until(time: string): Stretch {
  return { fromMs: beforeMs, toMs: Date.parse(time) };
}

function sleepUntil(atMs: number): Promise<void> {
  return clock.sleep(Math.max(atMs - Date.now(), 0));
}

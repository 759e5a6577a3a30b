import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { minuteMs, secondMs } from "../../src/base/time.ts";
import { sleepMs } from "../daemon.ts";
import { alertmanagerMessage, firstSentAtMs, flatlineMessage, type Message } from "./messages.ts";
import { startMonitor, type Monitor, type Program } from "./monitor.ts";
import { readRecords, startPlatform, type Platform, type Stretch } from "./platform.ts";
import { startReceiver, type Received, type Receiver } from "./receiver.ts";
import type { DayResult, OutageResult, Pace } from "./report.ts";
import { wireFlatline, wirePeer } from "./wiring.ts";

// The checker that both lists shared broke in the night to 2019-10-18. By the API's rule lightswitch is not ok from 02:30 on to
// 18:00 of the next day, riskhosts from 10:30 to 10:30.
const broken = "lightswitch";
const brokenForADay = "riskhosts";
const at = (time: string): number => Date.parse(time);
const beforeMs = at("2019-10-18T00:00Z");
const wholeDay: Stretch = { fromMs: beforeMs, toMs: at("2019-10-19T20:00Z") };
const untilBothFire: Stretch = { fromMs: beforeMs, toMs: at("2019-10-18T20:00Z") };
const untilOneEnded: Stretch = { fromMs: beforeMs, toMs: at("2019-10-19T12:00Z") };

/** One of the two that are compared, in a world. */
interface Side {
  /** Its API key on the platform. */
  readonly key: string;
  readonly monitor: Monitor;
  /** What the receiver accepted from it so far. */
  readonly messages: () => readonly Message[];
}

/** A platform and a receiver, and both monitors between them. */
export interface World extends AsyncDisposable {
  readonly platform: Platform;
  readonly receiver: Receiver;
  readonly flatline: Side;
  readonly peer: Side;
}

type Measured = Omit<DayResult, "firstSeconds" | "repeatedAfterKill" | "repeatedAfterStop">;

/** What was measured of both. */
export interface Compared<Result> {
  readonly flatline: Result;
  readonly peer: Result;
}

/** Starts a world. Not two at once: both could be given the same port. */
export async function startWorld(pace: Pace): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const nowMs = (): number => Date.now();
  const receiver = await startReceiver(nowMs);
  stack.defer(() => receiver.down());
  const records = await readRecords();
  const platform = await startPlatform({ records, startMs: beforeMs, hourTakesMs: pace.hourTakesMs, nowMs });
  stack.defer(() => platform.close());
  const slugs = records.map(({ slug }) => slug);
  const wiring = { ...pace, platformUrl: platform.url, receiverUrl: receiver.url, slugs };
  const start = async (key: string, programs: readonly Program[], parse: (one: Received) => Message): Promise<Side> => {
    const monitor = await startMonitor(programs);
    stack.defer(() => monitor.stop());
    return { key, monitor, messages: () => receiver.received.filter(({ path }) => path === `/${key}`).map(parse) };
  };
  const own = await wireFlatline({ ...wiring, folder: join(folder, "flatline") });
  const flatline = await start("flatline", own, flatlineMessage);
  const others = await wirePeer({ ...wiring, folder: join(folder, "peer") });
  const peer = await start("peer", others, alertmanagerMessage);
  const started = stack.move();
  return { platform, receiver, flatline, peer, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** Plays the whole day to both, then half of it, with a restart of each kind while both lists fire. */
export async function playDay({ platform, ...sides }: World, pace: Pace): Promise<Compared<DayResult>> {
  await sleepMs(pace.warmUpMs);
  const cpuBefore = both(({ monitor }) => monitor.cpuSeconds(), sides);
  const startedAtMs = Date.now();
  await until(platform.play(wholeDay));
  const brokenAtMs = platform.brokenAtMs() ?? Number.NaN;
  const first = secondsUntilSent(sides, platform);
  await sleepMs(pace.settleMs);
  const minutes = (Date.now() - startedAtMs) / minuteMs;
  const measure = ({ key, monitor, messages }: Side, name: keyof Compared<Side>): Measured => ({
    brokenAtMs,
    messages: messages(),
    requests: platform.requests.get(key) ?? 0,
    cpuSecondsPerMinute: (monitor.cpuSeconds() - cpuBefore[name]) / minutes,
    residentBytes: monitor.residentBytes(),
  });
  const day = both(measure, sides);

  await until(platform.play(untilBothFire));
  await sleepMs(pace.settleMs);
  const again = secondsUntilSent(sides, platform);
  const afterKill = await messagesAfterRestart(sides, "SIGKILL", pace);
  const afterStop = await messagesAfterRestart(sides, "SIGTERM", pace);
  return both(
    (_, name) => ({
      ...day[name],
      firstSeconds: [first[name], again[name]],
      repeatedAfterKill: afterKill[name],
      repeatedAfterStop: afterStop[name],
    }),
    sides,
  );
}

/** Breaks the checker while the receiver is down: when it is back, one list is ok again, the other still fires. */
export async function playOutage({ platform, receiver, ...sides }: World, pace: Pace): Promise<Compared<OutageResult>> {
  await sleepMs(pace.warmUpMs);
  await receiver.down();
  platform.play(untilOneEnded);
  await sleepMs(pace.outageMs);
  await receiver.up();
  const backAtMs = Date.now();
  const sentAfter = ({ messages }: Side, slug: string, status: "firing" | "resolved"): number | null => {
    const sentAtMs = firstSentAtMs(messages(), { slug, status }, backAtMs);
    return sentAtMs === null ? null : (sentAtMs - backAtMs) / secondMs;
  };
  const { flatline, peer } = sides;
  const isComplete = (): boolean =>
    sentAfter(peer, broken, "firing") !== null &&
    sentAfter(flatline, broken, "firing") !== null &&
    sentAfter(flatline, brokenForADay, "resolved") !== null;
  while (!isComplete() && Date.now() < backAtMs + pace.lateMs) await sleepMs(secondMs);
  await sleepMs(pace.settleMs);
  const measure = (side: Side): OutageResult => ({
    backAtMs,
    messages: side.messages(),
    stillFiringSeconds: sentAfter(side, broken, "firing"),
    endedFiringSeconds: sentAfter(side, brokenForADay, "firing"),
    endedResolvedSeconds: sentAfter(side, brokenForADay, "resolved"),
  });
  return both(measure, sides);
}

function secondsUntilSent(sides: Compared<Side>, platform: Platform): Compared<number | null> {
  const brokenAtMs = platform.brokenAtMs() ?? Number.NaN;
  return both(({ messages }) => {
    const sentAtMs = firstSentAtMs(messages(), { slug: broken, status: "firing" }, brokenAtMs);
    return sentAtMs === null ? null : (sentAtMs - brokenAtMs) / secondMs;
  }, sides);
}

// The platform stands still: whatever comes was said before.
async function messagesAfterRestart(
  sides: Compared<Side>,
  signal: "SIGTERM" | "SIGKILL",
  pace: Pace,
): Promise<Compared<number>> {
  const before = both(({ messages }) => messages().length, sides);
  await Promise.all([sides.flatline.monitor.restart(signal), sides.peer.monitor.restart(signal)]);
  await sleepMs(pace.restartMs);
  return both(({ messages }, name) => messages().length - before[name], sides);
}

function both<Result>(
  of: (side: Side, name: keyof Compared<Side>) => Result,
  { flatline, peer }: Compared<Side>,
): Compared<Result> {
  return { flatline: of(flatline, "flatline"), peer: of(peer, "peer") };
}

function until(atMs: number): Promise<void> {
  return sleepMs(Math.max(atMs - Date.now(), 0));
}

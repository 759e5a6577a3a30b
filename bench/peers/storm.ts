import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { createSystemClock, minuteMs } from "../../src/base/time.ts";
import { runProgram } from "../../test/support/program/program.ts";
import type { Circumstances } from "../harness/benchmark.ts";
import { circumstances } from "../harness/measure.ts";
import { table } from "../harness/table.ts";
import { tempFolder } from "../processes.ts";
import { startPlatform } from "./platform.ts";
import { startWatchers } from "./scenario.ts";
import { startServer } from "./server.ts";

/** How many messages one way to watch sends about the break, and the first lines of the first and the last of them. */
interface StormSide {
  readonly name: string;
  readonly messages: number;
  readonly first: string;
  readonly last: string;
}

/** What bench/results/storm.json holds: counts, which hardly depend on how busy the machine is. */
export interface StormResult extends Circumstances {
  readonly organizations: number;
  readonly broken: number;
  readonly minutes: number;
  readonly sides: readonly StormSide[];
}

// Deaths in the window: as on each of the seven days before, and forty times as many.
const [usual, loud] = [5, 200];
const baselineCount = 7 * usual;
const groupings = { "by-organization": "[alertname, slug]", "by-name": "[alertname]" } as const;
const clock = createSystemClock();

/** Lets 120 of 300 organizations break between two looks, and counts what is sent about it in the following minutes. */
export async function measureStorm(isQuick: boolean): Promise<StormResult> {
  const [organizations, broken, minutes] = isQuick ? [30, 12, 1] : [300, 120, 5];
  await using releases = new AsyncDisposableStack();
  const slugs = Array.from({ length: organizations }, (_, index) => `org-${index}`);
  const brokenSlugs = new Set(slugs.slice(0, broken));
  let isBroken = false;
  const platform = await startPlatform((slug) => {
    const currentCount = isBroken && brokenSlugs.has(slug) ? loud : usual;
    return { nowMs: Date.now(), currentCount, baselineCount };
  });
  releases.defer(() => platform.down());
  const receiver = await startServer(() => ({}));
  releases.defer(() => receiver.down());
  const wiring = {
    platformUrl: platform.url,
    receiverUrl: receiver.url,
    slugs,
    intervalSeconds: 15,
    groupWaitSeconds: 10,
    groupIntervalSeconds: 60,
  };
  const { flatline, peer } = await startWatchers(wiring, receiver, groupings, releases);
  // What begins with an organization's first look is no break.
  await clock.sleep(minuteMs);
  isBroken = true;
  const { all, isEach } = await runCron({ platformUrl: platform.url, slugs, minutes }, releases);
  const counted = [
    { name: "flatline", messages: flatline.messages() },
    ...Object.entries(groupings).map(([path, grouping]) => ({
      name: `the three, \`group_by: ${grouping}\``,
      messages: peer.messages(path),
    })),
    { name: "a command in cron each minute, for all organizations", messages: all },
  ].map(({ name, messages }) => {
    const [first = "", last = ""] = [messages[0], messages.at(-1)].map((one) => one?.text.split("\n")[0]);
    return { name, messages: messages.length, first, last };
  });
  const each = {
    name: "… for one organization each, by rule",
    messages: isEach ? broken * minutes : 0,
    first: "",
    last: "",
  };
  return { ...circumstances(), organizations, broken, minutes, sides: [...counted, each] };
}

interface CronOptions {
  readonly platformUrl: string;
  readonly slugs: readonly string[];
  readonly minutes: number;
}

/**
 * Runs `flatline check` each minute as cron does, with all organizations; what it prints where it fails is mailed. Alone, the
 * first organization, which is broken, and the last, which is not, say whether a command for each would mail once for each that
 * is broken: three hundred processes a minute would starve what is compared.
 */
async function runCron({ platformUrl, slugs, minutes }: CronOptions, releases: AsyncDisposableStack) {
  const cwd = await tempFolder(releases);
  await writeFile(
    join(cwd, "flatline.yaml"),
    `source: { type: remote, baseUrl: "${platformUrl}/api/v2", apiKey: cron }\norganizations: [${slugs.join(", ")}]\n`,
  );
  const all: { readonly text: string }[] = [];
  const untilMs = Date.now() + minutes * minuteMs;
  for (let run = 0; run < minutes; run++) {
    const { exitCode, stdout } = await runProgram(["check"], { cwd });
    if (exitCode !== 0) all.push({ text: stdout.split("\n")[1] ?? "" });
    await clock.sleep(untilMs - (minutes - run - 1) * minuteMs - Date.now());
  }
  const [first, last] = await Promise.all(
    [slugs[0], slugs.at(-1)].map((slug = "") => runProgram(["check", slug], { cwd })),
  );
  return { all, isEach: first?.exitCode !== 0 && last?.exitCode === 0 };
}

/** Returns the table of docs/comparison.md. */
export function stormTable({ sides, minutes }: StormResult): string {
  return table(
    ["", `messages in ${minutes} min`, "the first begins", "the last begins"],
    sides.map(({ name, messages, first, last }) => [name, String(messages), first, last]),
  );
}

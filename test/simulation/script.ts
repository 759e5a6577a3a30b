import { dayMs, hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import type { Chance } from "./chance.ts";
import { diskTargets, type DiskTarget } from "./disk.ts";
import { people } from "./fleet.ts";
import { verdicts, type PlannedAct } from "./people.ts";
import { platformFaults, type PlatformFault } from "./platform.ts";
import { receiverFaults, type ReceiverFault } from "./receiver.ts";

/** Something that happens to the daemon, or that a person or a pipeline does; `atMs` after the beginning. */
export type Incident = { readonly atMs: number } & (
  | { readonly kind: "platform"; readonly fault: PlatformFault; readonly forMs: number }
  | { readonly kind: "receiver"; readonly name: string; readonly fault: ReceiverFault; readonly forMs: number }
  | { readonly kind: "busy"; readonly statements: number }
  | { readonly kind: "full"; readonly forMs: number }
  /** Of those that wrote `of`; null: of any that wrote. */
  | { readonly kind: "lost-commits"; readonly commits: number; readonly of: DiskTarget | null }
  /** The process dies in place of the statement that is so many further on, and is started again after a while. */
  | { readonly kind: "die"; readonly inStatements: number; readonly downMs: number }
  /** It dies when it is about to write that. */
  | { readonly kind: "die-before"; readonly target: DiskTarget; readonly downMs: number }
  | { readonly kind: "stop"; readonly downMs: number }
  | { readonly kind: "suspend"; readonly forMs: number }
  | { readonly kind: "set-clock"; readonly byMs: number }
  /** Which configuration is applied, by its place in the world's list. */
  | { readonly kind: "reload"; readonly configuration: number }
  | { readonly kind: "silence"; readonly slug: string; readonly forMs: number }
  | { readonly kind: "change-silence"; readonly forMs: number }
  | { readonly kind: "end-silences" }
  /** People act on alerts that fire, and their incidents; some of them at once. */
  | { readonly kind: "act"; readonly acts: readonly PlannedAct[] }
  | { readonly kind: "run"; readonly slug: string }
);

export interface ScriptOptions {
  readonly chance: Chance;
  readonly days: number;
  readonly slugs: readonly [string, ...string[]];
  readonly receivers: readonly [string, ...string[]];
  readonly configurations: number;
}

/** How many of each kind come in a day, on average. */
const perDay = {
  platform: 3,
  receiver: 8,
  busy: 4,
  full: 0.7,
  "lost-commits": 4,
  die: 2,
  "die-before": 5,
  stop: 1,
  suspend: 1,
  "set-clock": 0.4,
  reload: 4,
  silence: 5,
  "change-silence": 2,
  "end-silences": 1,
  act: 48,
  run: 4,
} as const satisfies Record<Incident["kind"], number>;

const targets = Object.keys(diskTargets) as [DiskTarget, ...DiskTarget[]];

/** Writes what happens, in order of time. */
export function writeScript({ chance, days, ...world }: ScriptOptions): Incident[] {
  const script: Incident[] = [];
  for (const kind of Object.keys(perDay) as Incident["kind"][]) {
    // A source of its own for each kind: one more of a kind leaves the others as they are.
    const own = chance.of(kind);
    const meanMs = dayMs / perDay[kind];
    for (let atMs = wait(own, meanMs); atMs < days * dayMs; atMs += wait(own, meanMs)) {
      const incident = draw(kind, own, world);
      // While checks are under way: most of them begin every five minutes.
      const isAmidRuns = kind === "reload" && own.isTrue(0.6);
      const exactAtMs = isAmidRuns ? Math.ceil(atMs / (5 * minuteMs)) * 5 * minuteMs + own.between(1, 300) : atMs;
      if (exactAtMs < days * dayMs) script.push({ atMs: exactAtMs, ...incident } as Incident);
    }
  }
  return script.toSorted((left, right) => left.atMs - right.atMs);
}

/** Exponential: as often as not, much happens at once. */
function wait(chance: Chance, meanMs: number): number {
  return Math.ceil(-Math.log(1 - chance.next()) * meanMs);
}

function draw(
  kind: Incident["kind"],
  chance: Chance,
  { slugs, receivers, configurations }: Pick<ScriptOptions, "slugs" | "receivers" | "configurations">,
): Record<string, unknown> {
  const slug = chance.pick(slugs);
  const forMs = chance.pick([30 * secondMs, 3 * minuteMs, 20 * minuteMs, 2 * hourMs]);
  switch (kind) {
    case "platform":
      return { kind, fault: chance.pick(platformFaults), forMs };
    case "receiver":
      return {
        kind,
        name: chance.pick(receivers),
        fault: chance.pick(receiverFaults),
        // For longer than an alert lives: more than one notification of it waits.
        forMs: chance.pick([3 * minuteMs, 20 * minuteMs, 2 * hourMs, 4 * hourMs]),
      };
    case "busy":
      return { kind, statements: chance.between(1, 40) };
    case "full":
      return { kind, forMs: chance.pick([10 * secondMs, 2 * minuteMs, 15 * minuteMs]) };
    case "lost-commits":
      return { kind, commits: chance.between(1, 4), of: chance.pick([null, ...targets]) };
    case "die":
      return { kind, inStatements: chance.between(0, 60), downMs: chance.pick([secondMs, minuteMs, 40 * minuteMs]) };
    case "die-before":
      return {
        kind,
        target: chance.pick([...targets, "queued", "delivered"]),
        downMs: chance.pick([secondMs, minuteMs, 40 * minuteMs]),
      };
    case "stop":
      return { kind, downMs: chance.pick([secondMs, 10 * minuteMs]) };
    case "suspend":
      return { kind, forMs: chance.pick([10 * secondMs, 10 * minuteMs, 3 * hourMs]) };
    case "set-clock":
      return { kind, byMs: chance.pick([-hourMs, -5 * minuteMs, -3 * secondMs, 5 * minuteMs, hourMs]) };
    case "reload":
      return { kind, configuration: chance.between(0, configurations - 1) };
    case "silence":
      return { kind, slug: chance.isTrue(0.2) ? "*" : slug, forMs: chance.pick([5 * minuteMs, hourMs, 6 * hourMs]) };
    case "change-silence":
      return { kind, forMs: chance.pick([minuteMs, hourMs, 6 * hourMs]) };
    case "end-silences":
      return { kind };
    case "act": {
      const act = drawAct(chance, slug);
      // Mostly on the same incident: its alerts are of many organizations.
      return {
        kind,
        acts: chance.isTrue(0.2) ? [act, drawAct(chance, chance.pick([slug, chance.pick(slugs)]))] : [act],
      };
    }
    case "run":
    default:
      return { kind, slug };
  }
}

/** The oftener, the more often. */
const acts: [PlannedAct["act"], ...PlannedAct["act"][]] = [
  ...(["acknowledge", "acknowledge", "acknowledge", "acknowledge", "acknowledge"] as const),
  ...(["judge", "judge", "judge", "judge", "judge", "withdraw", "withdraw"] as const),
  ...(["release", "release", "release", "release", "release"] as const),
  ...(["unacknowledge", "unacknowledge", "unacknowledge", "comment", "comment", "silence"] as const),
];

function drawAct(chance: Chance, slug: string): PlannedAct {
  return {
    act: chance.pick(acts),
    slug,
    by: chance.isTrue(0.7) ? people[0] : people[1],
    of: chance.pick(["alert", "alert", "some", "incident", "incident"]),
    isForeseen: chance.isTrue(0.5),
    verdict: chance.pick(verdicts),
    forMs: chance.pick([5 * minuteMs, hourMs]),
  };
}

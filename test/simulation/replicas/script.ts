import { hourMs, minuteMs, secondMs } from "../../../src/base/time.ts";
import type { Chance } from "../chance.ts";
import { targets, type Ambush, type Target } from "./process.ts";

/** Something that happens to replicas or to their database; `atMs` after the beginning. */
export type ReplicaIncident = { readonly atMs: number } & (
  | { readonly kind: "kill"; readonly replica: number; readonly downMs: number }
  | { readonly kind: "stop"; readonly replica: number; readonly downMs: number }
  | { readonly kind: "suspend"; readonly replica: number; readonly forMs: number }
  | { readonly kind: "ambush"; readonly replica: number; readonly ambush: Ambush }
  | { readonly kind: "slow"; readonly replica: number; readonly forMs: number }
  | { readonly kind: "restart-database"; readonly forMs: number }
  | { readonly kind: "slow-checks"; readonly forMs: number }
  /** A run is asked for at a replica, which may not own the check. */
  | { readonly kind: "ask"; readonly replica: number; readonly slug: string }
);

/** How many of each kind come in an hour, on average. */
const perHour = {
  kill: 15,
  stop: 8,
  suspend: 15,
  ambush: 100,
  slow: 5,
  "restart-database": 3,
  "slow-checks": 3,
  ask: 40,
} as const satisfies Record<ReplicaIncident["kind"], number>;

// A lease is 10 s, and renewed every 3 s: around its end the order of things is decided.
const suspensionsMs = [2 * secondMs, 8 * secondMs, 9 * secondMs, 9_500, 11 * secondMs, 30 * secondMs] as const;
const names = Object.keys(targets) as [Target, ...Target[]];

export interface ReplicaScriptOptions {
  readonly chance: Chance;
  readonly forMs: number;
  readonly replicas: number;
  readonly slugs: readonly [string, ...string[]];
}

/** Writes what happens, in order of time. */
export function writeReplicaScript({ chance, forMs, ...world }: ReplicaScriptOptions): ReplicaIncident[] {
  const script: ReplicaIncident[] = [];
  for (const kind of Object.keys(perHour) as ReplicaIncident["kind"][]) {
    const own = chance.of(kind);
    const wait = (): number => Math.ceil(-Math.log(1 - own.next()) * (hourMs / perHour[kind]));
    for (let atMs = wait(); atMs < forMs; atMs += wait())
      script.push({ atMs, ...draw(kind, own, world) } as ReplicaIncident);
  }
  return script.toSorted((left, right) => left.atMs - right.atMs);
}

function draw(
  kind: ReplicaIncident["kind"],
  chance: Chance,
  { replicas, slugs }: Pick<ReplicaScriptOptions, "replicas" | "slugs">,
): Record<string, unknown> {
  const replica = chance.between(0, replicas - 1);
  switch (kind) {
    case "kill":
    case "stop":
      return { kind, replica, downMs: chance.pick([500, 5 * secondMs, 40 * secondMs]) };
    case "suspend":
      return { kind, replica, forMs: chance.pick(suspensionsMs) };
    case "ambush":
      return {
        kind,
        replica,
        ambush: {
          target: chance.pick(names),
          place: chance.pick(["before", "after", "before-commit", "before-commit", "after-commit"]),
          act: chance.pick(["drop", "drop", "die", "fail", "suspend", "suspend"]),
          forMs: chance.pick(suspensionsMs),
          code: chance.pick(["40001", "40P01", "53300", "55P03", "57014"]),
        } satisfies Ambush,
      };
    case "slow":
      return { kind, replica, forMs: chance.pick([5 * secondMs, 30 * secondMs]) };
    case "restart-database":
      return { kind, forMs: chance.pick([200, 3 * secondMs, 15 * secondMs]) };
    case "slow-checks":
      return { kind, forMs: chance.pick([20 * secondMs, minuteMs]) };
    case "ask":
    default:
      return { kind, replica, slug: chance.pick(slugs) };
  }
}

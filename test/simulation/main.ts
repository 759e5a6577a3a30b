import { dayMs } from "../../src/base/time.ts";
import { readFlags, readNumber } from "../support/program/flags.ts";
import type { ReplicaIncident } from "./replicas/script.ts";
import { simulateReplicas } from "./replicas/world.ts";
import type { Incident } from "./script.ts";
import { minimize, simulate } from "./simulate.ts";

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const complain = (line: string): boolean => process.stderr.write(`${line}\n`);

const usage =
  "usage: npm run simulate -- [--seed N] [--seeds COUNT] [--days D] [--replicas N] [--trace] [--first] [--minimize]";
const values = readFlags(usage, {
  seed: { type: "string", default: "1" },
  seeds: { type: "string", default: "1" },
  // Of replicas an hour and some minutes.
  days: { type: "string" },
  replicas: { type: "string", default: "0" },
  trace: { type: "boolean", default: false },
  first: { type: "boolean", default: false },
  minimize: { type: "boolean", default: false },
});
const first = readNumber("seed", values.seed, { least: 0, usage });
const count = readNumber("seeds", values.seeds, { least: 1, usage });
const replicas = readNumber("replicas", values.replicas, { least: 0, usage });
const days = readNumber("days", values.days ?? (replicas > 0 ? "0.05" : "2"), { least: 0.01, isWhole: false, usage });

interface Life<Happening> {
  readonly hash: string;
  readonly violations: readonly string[];
  readonly script: readonly Happening[];
}

/** Lives a seed once, and again with less of its script when that is asked for. */
async function liveSeed<Happening>(
  seed: number,
  live: (options: {
    readonly script?: readonly Happening[];
    readonly stopsAtFirst: boolean;
    readonly onTrace?: typeof say;
  }) => Promise<Life<Happening>>,
): Promise<boolean> {
  const before = process.cpuUsage();
  const { hash, violations, script, ...counts } = await live({
    stopsAtFirst: values.first,
    ...(values.trace ? { onTrace: say } : {}),
  });
  const { user, system } = process.cpuUsage(before);
  const summary = { seed, days, hash, violations: violations.length, cpuSeconds: (user + system) / 1e6, ...counts };
  say(JSON.stringify(summary));
  if (violations.length === 0) return false;
  for (const violation of violations.slice(0, 20)) say(`  ${violation}`);
  const kind = replicas > 0 ? ` --replicas ${replicas}` : "";
  say(`again: npm run simulate --${kind} --seed ${seed} --days ${days} --trace`);
  if (!values.minimize) return true;
  const shortest = await minimize(script, async (some) => {
    complain(`${some.length} incidents`);
    return (await live({ script: some, stopsAtFirst: true })).violations.length > 0;
  });
  for (const incident of shortest) say(JSON.stringify(incident));
  return true;
}

let violated = 0;
for (let seed = first; seed < first + count; seed++) {
  const isViolated =
    replicas > 0
      ? await liveSeed<ReplicaIncident>(seed, (options) =>
          simulateReplicas({ ...options, seed, replicas, forMs: days * dayMs }),
        )
      : await liveSeed<Incident>(seed, (options) => simulate({ ...options, seed, days }));
  if (isViolated) violated++;
}
process.exitCode = violated === 0 ? 0 : 1;

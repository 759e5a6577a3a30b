import type { SourceKind } from "./fleet.ts";
import { Oracle } from "./oracle/oracle.ts";
import type { Incident } from "./script.ts";
import { quietMs, World } from "./world.ts";
import { dayMs } from "../../src/base/time.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** With faults; eight hours without follow. */
  readonly days: number;
  readonly script?: readonly Incident[];
  /** Ends with the first violation [false]. */
  readonly stopsAtFirst?: boolean;
  readonly onTrace?: (line: string) => unknown;
}

export interface Simulated {
  /** Of everything that was logged, recorded and done: the same seed gives the same one. */
  readonly hash: string;
  readonly violations: readonly string[];
  readonly source: SourceKind;
  readonly script: readonly Incident[];
  /** How often each kind of incident happened. */
  readonly incidents: Readonly<Record<string, number>>;
  readonly virtualDays: number;
  readonly runs: number;
  readonly notifications: number;
  /** Answers of the gate that were compared. */
  readonly gateAnswers: number;
}

/** Lives through `days` of a fleet of 20 organizations, with what the seed lets happen, under the oracle's eyes. */
export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const world = await World.create(options);
  const oracle = new Oracle(world);
  world.observer = oracle;
  await world.run(() => options.stopsAtFirst === true && oracle.violations.length > 0);
  if (options.stopsAtFirst !== true || oracle.violations.length === 0) oracle.finish();
  return {
    hash: world.hash(),
    violations: oracle.violations,
    script: world.script,
    source: world.source,
    incidents: world.counts,
    virtualDays: options.days + quietMs / dayMs,
    runs: oracle.recorded,
    gateAnswers: oracle.gate.asked,
    notifications: [...world.receivers.values()].reduce((sum, { accepted }) => sum + accepted.length, 0),
  };
}

/**
 * The shortest script that still violates what the whole one does, by leaving out halves, quarters and so on, then one
 * by one. Answers the script itself when it violates nothing.
 */
export async function minimize(
  script: readonly Incident[],
  isViolated: (some: readonly Incident[]) => Promise<boolean>,
): Promise<readonly Incident[]> {
  let shortest = script;
  for (let size = Math.ceil(script.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < shortest.length;) {
      const without = shortest.filter((_incident, index) => index < from || index >= from + size);
      if (await isViolated(without)) shortest = without;
      else from += size;
    }
  }
  return shortest;
}

import { parseArgs } from "node:util";

import { minimize, simulate } from "./simulate.ts";

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

// npm run simulate -- [--seed N] [--seeds COUNT] [--days D] [--trace] [--first] [--minimize]
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    days: { type: "string", default: "2" },
    trace: { type: "boolean", default: false },
    first: { type: "boolean", default: false },
    minimize: { type: "boolean", default: false },
  },
});
const [first = 0, count = 0, days = 0] = [values.seed, values.seeds, values.days].map(Number);
// A run that tries nothing must not pass for a good one.
if (!(first >= 0 && count >= 1 && days > 0))
  throw new Error("--seed, --seeds and --days are numbers, the last two above 0");

/** Runs a seed once, and again with less of its script when asked to; answers whether all promises were kept. */
async function liveSeed(seed: number): Promise<boolean> {
  const before = process.cpuUsage();
  const life = { seed, days };
  const { hash, violations, script, ...counts } = await simulate({
    ...life,
    stopsAtFirst: values.first,
    ...(values.trace ? { onTrace: say } : {}),
  });
  const { user, system } = process.cpuUsage(before);
  const cpuSeconds = (user + system) / 1e6;
  say(JSON.stringify({ ...life, hash, violations: violations.length, cpuSeconds, ...counts }));
  if (violations.length === 0) return true;
  for (const violation of violations.slice(0, 20)) say(`  ${violation}`);
  say(`again: npm run simulate -- --seed ${seed} --days ${days} --trace`);
  if (!values.minimize) return false;
  const shortest = await minimize(script, async (some) => {
    process.stderr.write(`${some.length} incidents\n`);
    return (await simulate({ ...life, script: some, stopsAtFirst: true })).violations.length > 0;
  });
  for (const incident of shortest) say(JSON.stringify(incident));
  return false;
}

for (let seed = first; seed < first + count; seed++) if (!(await liveSeed(seed))) process.exitCode = 1;

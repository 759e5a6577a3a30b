import { parseArgs } from "node:util";

import { minimize, simulate } from "./simulate.ts";

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const complain = (line: string): boolean => process.stderr.write(`${line}\n`);

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
const [first, count, days] = [values.seed, values.seeds, values.days].map(Number) as [number, number, number];
if (![first, count, days].every((value) => Number.isFinite(value) && value >= 0)) {
  complain("usage: npm run simulate -- [--seed N] [--seeds COUNT] [--days D] [--trace] [--first] [--minimize]");
  process.exit(64);
}

let violated = 0;
for (let seed = first; seed < first + count; seed++) {
  const options = { seed, days, stopsAtFirst: values.first };
  const before = process.cpuUsage();
  const { hash, violations, script, ...counts } = await simulate({
    ...options,
    ...(values.trace ? { onTrace: say } : {}),
  });
  const { user, system } = process.cpuUsage(before);
  const summary = { seed, days, hash, violations: violations.length, cpuSeconds: (user + system) / 1e6, ...counts };
  say(JSON.stringify(summary));
  if (violations.length === 0) continue;
  violated++;
  for (const violation of violations.slice(0, 20)) say(`  ${violation}`);
  say(`again: npm run simulate -- --seed ${seed} --days ${days} --trace`);
  if (!values.minimize) continue;
  const onTry = (incidents: number): void => void complain(`${incidents} incidents`);
  for (const incident of await minimize(options, { script, onTry })) say(JSON.stringify(incident));
}
process.exitCode = violated === 0 ? 0 : 1;

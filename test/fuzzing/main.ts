import { readFlags, readNumber, refuse } from "../support/program/flags.ts";
import { fuzz } from "./fuzz.ts";
import { targets } from "./targets/targets.ts";

const usage = `usage: npm run fuzz -- [--target NAME] [--seed N] [--tries N | --times N] [--show]
targets: ${targets.map(({ name }) => name).join(", ")}`;

const values = readFlags(usage, {
  target: { type: "string" },
  seed: { type: "string", default: "1" },
  tries: { type: "string" },
  times: { type: "string", default: "1" },
  show: { type: "boolean", default: false },
});
const chosen = targets.filter(({ name }) => values.target === undefined || name === values.target);
if (chosen.length === 0) refuse(`there is no target ${values.target}`, usage);
const seed = readNumber("seed", values.seed, { least: 0, usage });
const times = readNumber("times", values.times, { least: 1, usage });
const tries = values.tries === undefined ? null : readNumber("tries", values.tries, { least: 1, usage });

let current = "";
// What nobody awaits must not end it unseen.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${current}\nthrown by nobody's promise: ${error.stack ?? error.message}\n`);
  process.exit(70);
});

for (const target of chosen) {
  const onInput = (shown: string): void => {
    current = `${target.name}, seed ${seed}: ${shown.slice(0, 2_000)}`;
    if (values.show) process.stderr.write(`${current}\n`);
  };
  const { failure, ...outcome } = await fuzz(target, { seed, tries: tries ?? target.tries * times, onInput });
  process.stdout.write(`${JSON.stringify({ ...outcome, failure })}\n`);
  if (failure === null) continue;
  process.exitCode = 1;
  for (const complaint of failure.complaints) process.stderr.write(`${target.name}: ${complaint}\n`);
  process.stderr.write(`with: ${failure.input}\nagain: npm run fuzz -- --target ${target.name} --seed ${seed}\n`);
}

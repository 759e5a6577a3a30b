// Prints the closing line of CI over the results of several runs, and fails when a test failed, or ran in none of them though
// this machine could have run it. Usage: node scripts/count-tests.js RESULTS.json …
import { readFileSync } from "node:fs";

const runs = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")));
// A file that ran again, in its long form, is counted as it ran last: the names of its tests may differ, as a skipped one says why.
const files = new Map(runs.flatMap((run) => run.testResults.map((file) => [file.name, file])));
const endings = [...files.values()].flatMap((file) =>
  file.assertionResults.map(({ fullName, status }) => ({ name: `${file.name}: ${fullName}`, status })),
);

const withStatus = (wanted) => endings.filter(({ status }) => status === wanted).map(({ name }) => name);
const passed = withStatus("passed");
const failed = withStatus("failed");
// Also what was named but never begun: todo, or interrupted.
const skipped = endings.filter(({ status }) => status !== "passed" && status !== "failed").map(({ name }) => name);
const hasBaseImage = Boolean(process.env.FLATLINE_TEST_CONTAINERS_STORAGE_CONF);
const unwanted = skipped.filter((name) => hasBaseImage || !/e2e\/deploy\/container\./.test(name));
for (const name of unwanted) console.error(`skipped: ${name}`);
for (const name of failed) console.error(`failed: ${name}`);
console.log(`${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`);
if (unwanted.length > 0 || !runs.every((run) => run.success)) process.exitCode = 1;

// Prints the closing line of CI over the results of several runs, and fails when a test failed, or ran in none of them though
// this machine could have run it. Usage: node scripts/count-tests.js RESULTS.json …
import { readFileSync } from "node:fs";

const runs = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")));
const endings = new Map();
for (const file of runs.flatMap((run) => run.testResults)) {
  for (const { fullName, status, failureMessages } of file.assertionResults) {
    const name = `${file.name}: ${fullName}`;
    if (status === "passed" && failureMessages.length > 0)
      console.error(`flaky: ${name}\n  ${failureMessages.join("\n  ")}`);
    if (status === "failed") endings.set(name, "failed");
    else if (status === "passed" && endings.get(name) !== "failed") endings.set(name, "passed");
    else if (!endings.has(name)) endings.set(name, "skipped");
  }
}

const withStatus = (status) => [...endings].filter((ending) => ending[1] === status).map(([name]) => name);
const skipped = withStatus("skipped");
const hasBaseImage = Boolean(process.env.FLATLINE_TEST_CONTAINERS_STORAGE_CONF);
const unwanted = skipped.filter((name) => hasBaseImage || !/e2e\/container\./.test(name));
for (const name of unwanted) console.error(`skipped: ${name}`);
for (const name of withStatus("failed")) console.error(`failed: ${name}`);
console.log(`${withStatus("passed").length} passed, ${withStatus("failed").length} failed, ${skipped.length} skipped`);
if (unwanted.length > 0 || !runs.every((run) => run.success)) process.exitCode = 1;

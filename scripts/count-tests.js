// Prints the closing line of CI and fails when a test was skipped that this machine could have run.
import { readFileSync } from "node:fs";

const results = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tests = results.testResults.flatMap((file) =>
  file.assertionResults.map((test) => ({ ...test, file: file.name })),
);
const count = (status) => tests.filter((test) => test.status === status).length;
const skipped = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
const allowed = process.env.FLATLINE_TEST_CONTAINERS_STORAGE_CONF
  ? []
  : skipped.filter((test) => /e2e\/container\./.test(test.file));
const unwanted = skipped.filter((test) => !allowed.includes(test));
for (const test of unwanted) console.error(`skipped: ${test.file}: ${test.fullName}`);
for (const test of tests.filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0))
  console.error(`flaky: ${test.file}: ${test.fullName}\n  ${test.failureMessages.join("\n  ")}`);
console.log(`${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
if (unwanted.length > 0 || !results.success) process.exitCode = 1;

import type { Command } from "commander";
import { runDrill, type DrillReport } from "./drill.ts";
import { formatCount } from "../../base/numbers.ts";
import { secondMs } from "../../base/time.ts";
import { loadCommandConfig } from "../command-config.ts";
import { createCommandLogger } from "../command-logger.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { renderTable } from "../table.ts";
import { asJson, parseDurationMs } from "../values.ts";

interface DrillFlags {
  readonly config?: string;
  readonly receiver?: readonly string[];
  readonly timeout?: number;
  readonly json?: boolean;
}

// Longer than a receiver's own timeout, so that one that hangs once still gets a second attempt.
const defaultTimeoutMs = 30 * secondMs;

/** `flatline drill` */
export const registerDrill: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("drill")
    .description(
      "send a synthetic regression through evaluation, alert, outbox and receivers, judge it, then send its end",
    )
    .option("--receiver <name...>", "only these receivers [all]")
    .option("--timeout <duration>", "how long to wait for each of the two messages [30s]", parseDurationMs)
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print {slug, isPassed, tookMs, steps: [{step, receiver, tookMs, isOk, detail}]}")
    .addHelpText("after", help)
    .action(async (flags: DrillFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const logger = createCommandLogger(config, context);
      const report = await runDrill(
        config,
        { ...context, logger },
        { receivers: flags.receiver ?? [], timeoutMs: flags.timeout ?? defaultTimeoutMs },
      );
      context.stdout.write(flags.json === true ? renderJson(report) : renderReport(report, context));
      context.setExitCode(report.isPassed ? 0 : 1);
    });
};

const help = `
The organization is a shadow, flatline-drill, in a store of its own that is removed afterwards: the running daemon, its
store and its metrics see nothing of it. The receivers are the real ones; everything they get says that it is a drill.
Their match and rateLimit do not count, sendResolved does; sendActs does not.

In between it judges the alert \`checker\`, asks the gate (by \`defaults.gate\`) before and after the end, and shows how many
deaths are expected a day later, with the incident in the baseline and without it (\`baselineExclude\`).

Exit code: 0 every receiver accepted what it was sent, 1 not.

Examples:
  flatline drill
  flatline drill --receiver pager trust-slack --timeout 1m
  flatline drill --json | jq '.steps[] | select(.isOk | not)'
`;

function renderJson(report: DrillReport): string {
  const steps = report.steps.map((step) => ({ ...step, tookMs: Math.round(step.tookMs) }));
  return asJson({ ...report, tookMs: Math.round(report.tookMs), steps });
}

function renderReport({ steps, isPassed, tookMs }: DrillReport, context: CliContext): string {
  const rows = steps.map(({ step, receiver, tookMs: stepMs, isOk, detail }) => [
    step,
    receiver ?? "",
    milliseconds(stepMs),
    isOk ? "ok" : "fail",
    detail,
  ]);
  const table = renderTable(["STEP", "RECEIVER", "TOOK", "", "OUTCOME"], rows, { right: ["TOOK"], context });
  const verdict = isPassed ? "passed" : "failed: an alert would not have reached everybody";
  return `${table}\nthe drill ${verdict} (${milliseconds(tookMs)})\n`;
}

function milliseconds(ms: number): string {
  return `${formatCount(ms)} ms`;
}

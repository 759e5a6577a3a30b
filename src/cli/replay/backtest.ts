import type { Command } from "commander";
import { backtest } from "./session.ts";
import { createProgressLine, type CliContext, type RegisterCommand } from "../context.ts";
import { addReplayFlags, askOf, type ReplayFlags } from "./replay-flags.ts";
import { describeReport, renderCandidates, renderEpisodes, summarize } from "./replay-view.ts";
import { asJson } from "../values.ts";

/** `flatline backtest [SLUG…]` */
export const registerBacktest: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("backtest")
    .description("replay past events under one or many configurations: what would have been sent, and was it right")
    .argument("[slug...]", "organizations to replay [all that have events]");
  addReplayFlags(command)
    .option("--json", "print {truth, events, leftOut, candidates: [{name, settings, warn, fail, organizations}]}")
    .addHelpText("after", help)
    .action(async (slugs: string[], flags: ReplayFlags) => {
      const progress = createProgressLine(context);
      const startedAtMs = context.clock.monotonicMs();
      try {
        const report = await backtest(askOf(slugs, flags, context.clock.nowMs()), {
          ...context,
          onProgress: progress.show,
        });
        progress.clear();
        context.stderr.write(summarize(report, context.clock.monotonicMs() - startedAtMs));
        if (flags.json === true) {
          context.stdout.write(asJson(describeReport(report)));
          return;
        }
        context.stdout.write(renderCandidates(report, context));
        const [only, ...others] = report.candidates;
        if (only !== undefined && others.length === 0) context.stdout.write(`\n${renderEpisodes(only, context)}`);
      } finally {
        progress.clear();
      }
    });
};

const help = `
The same counts, rule and alert life cycle as the daemon's, over the stored events or those of a file. Without --step the
evaluations come by each organization's schedule. With --events and no --config the built-in settings hold.

An alert matches an incident when it overlaps it or the day after and began at most 12 h before. DELAY is the median from an
incident's first death to the alert. FALSE are alerts about no incident, those on days on which many assets really died left
out, as far as the truth knows them; WITH MASS DEATHS has these too.

Examples:
  flatline backtest --step 1h                                          what would this configuration have sent?
  flatline backtest acme --from 2026-01-01T00:00:00Z --truth regret    one organization, held against revived assets
  flatline backtest -c now.yaml -c next.yaml --step 1h                 two configurations side by side
  flatline backtest --events events.csv.gz --labels labels.json --step 1h --baseline mean,median --warn-multiplier 2,4
`;

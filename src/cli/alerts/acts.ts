import { Argument, type Command } from "commander";
import { findAlertId } from "./alert-id.ts";
import type { DaemonClient } from "../daemon-client.ts";
import { judgementMeanings, judgementVerdicts, type JudgementVerdict } from "../../contract/judgement.ts";
import type { CliContext } from "../context.ts";
import { askDaemon, daemonConfigFlag, daemonTokenFlag, daemonUrlFlag, type DaemonFlags } from "../daemon-flags.ts";

interface ActFlags extends DaemonFlags {
  readonly by?: string;
  readonly comment?: string;
}

/** `flatline alerts ack ID` */
export function addAck(parent: Command, context: CliContext): void {
  parent
    .command("ack")
    .description("acknowledge an alert: it is quiet until it is resolved, or worse than now")
    .argument("<id>", "id that `alerts list` shows, or its first digits")
    .option("--comment <text>", "what you know, or do about it")
    .option("--by <name>", "who [$USER]")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .option("--json", "print the alert as JSON")
    .addHelpText(
      "after",
      '\nExample:\n  flatline alerts ack 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e --comment "the checker is being repaired"\n',
    )
    .action(async (id: string, flags: ActFlags) => {
      const by = flags.by ?? context.env["USER"] ?? null;
      const alert = await askDaemon(flags, context, (daemon) =>
        withAlertId(daemon, id, (found) => daemon.acknowledge(found, by, flags.comment ?? null)),
      );
      const text = `${alert.id}: ${alert.slug} ${alert.check} is quiet until it is resolved, or worse than ${alert.severity}`;
      context.stdout.write(`${flags.json === true ? JSON.stringify(alert, null, 2) : text}\n`);
    });
}

/** `flatline alerts unack ID` */
export function addUnack(parent: Command, context: CliContext): void {
  parent
    .command("unack")
    .description("take an acknowledgement back: reminders and escalation go on")
    .argument("<id>", "id that `alerts list` shows, or its first digits")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .option("--json", "print the alert as JSON")
    .addHelpText(
      "after",
      "\nWith `acknowledged` in gate.releaseOn its deaths are held again.\n\nExample:\n  flatline alerts unack 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n",
    )
    .action(async (id: string, flags: ActFlags) => {
      const alert = await askDaemon(flags, context, (daemon) =>
        withAlertId(daemon, id, (found) => daemon.unacknowledge(found)),
      );
      const text = `${alert.id}: ${alert.slug} ${alert.check} is no longer acknowledged`;
      context.stdout.write(`${flags.json === true ? JSON.stringify(alert, null, 2) : text}\n`);
    });
}

/** `flatline alerts comment ID TEXT` */
export function addComment(parent: Command, context: CliContext): void {
  parent
    .command("comment")
    .description("comment on an alert, for its next reader; no receiver is notified")
    .argument("<id>", "id of an alert that lives or has ended, or its first digits")
    .argument("<text>", "what you know")
    .option("--by <name>", "who [$USER]")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .addHelpText(
      "after",
      '\nExample:\n  flatline alerts comment 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e "opened ten by hand, nine load"\n',
    )
    .action(async (id: string, text: string, flags: ActFlags) => {
      const by = flags.by ?? context.env["USER"] ?? null;
      const commented = await askDaemon(flags, context, (daemon) =>
        withAlertId(daemon, id, async (found) => {
          await daemon.comment(found, by, text);
          return found;
        }),
      );
      context.stdout.write(`${commented}: comment stored\n`);
    });
}

/** `flatline alerts judge ID VERDICT` */
export function addJudge(parent: Command, context: CliContext): void {
  parent
    .command("judge")
    .description("say what an alert was, so that the gate, the baseline and `tune` learn from it")
    .argument("<id>", "id of an alert that fires or has ended, or its first digits")
    .addArgument(
      new Argument("<verdict>", "what it was; none takes back what was said").choices([...judgementVerdicts, "none"]),
    )
    .option("--comment <text>", "what you saw")
    .option("--by <name>", "who [$USER]")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .option("--json", "print the alert as JSON")
    .addHelpText("after", judgeHelp)
    .action(async (id: string, verdict: JudgementVerdict | "none", flags: ActFlags) => {
      const said = { by: flags.by ?? context.env["USER"] ?? null, comment: flags.comment ?? null };
      const alert = await askDaemon(flags, context, (daemon) =>
        withAlertId(daemon, id, (found) => daemon.judge(found, verdict === "none" ? null : verdict, said)),
      );
      const what = verdict === "none" ? "is no longer judged" : `is judged ${verdict}: ${judgementMeanings[verdict]}`;
      const text = `${alert.id}: ${alert.slug} ${alert.check} ${what}`;
      context.stdout.write(`${flags.json === true ? JSON.stringify(alert, null, 2) : text}\n`);
    });
}

const judgeHelp = `
checker   the checker was wrong: these assets live
real      these assets did die
expected  it was known beforehand, such as a takedown of ours
none      takes back what was said

The last one holds, all are kept. With \`judged\` in gate.releaseOn, real and expected open the gate at once, checker when
the alert has ended. Exit code 64: no alert has this id.

Example:
  flatline alerts judge 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e checker --comment "captcha page in front of the hosts"
`;

/** Does `work` with the alert that a person named by the first digits of its id, or all of them. */
export function withAlertId<Result>(
  daemon: Pick<DaemonClient, "alertsStarting">,
  given: string,
  work: (id: string) => Promise<Result>,
): Promise<Result> {
  return findAlertId(given, (prefix) => daemon.alertsStarting(prefix)).then(work);
}

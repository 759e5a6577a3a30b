import { Argument, type Command } from "commander";
import { z } from "zod";

import { findAlertId } from "./alert-id.ts";
import type { DaemonClient } from "../daemon-client.ts";
import { judgementMeanings, judgementVerdicts, type JudgementVerdict } from "../../contract/judgement.ts";
import { alertDetailSchema, alertSchema, foundAlertsSchema } from "../../contract/v1/alerts.ts";
import type { CliContext } from "../context.ts";
import { authorOf, daemonCommand, type DaemonFlags } from "../daemon-flags.ts";

interface ActFlags extends DaemonFlags {
  readonly by?: string;
  readonly comment?: string;
}

/** `flatline alerts ack ID` */
export function addAck(parent: Command, context: CliContext): void {
  const command = parent
    .command("ack")
    .description("acknowledge an alert: it is quiet until it is resolved, or worse than now")
    .argument("<id>", "id that `alerts list` shows, or its first digits")
    .option("--comment <text>", "what you know, or do about it")
    .option("--by <name>", "who acts [the operating system's user]");
  daemonCommand(command, context, {
    json: "print the alert as JSON",
    help: '\nExample:\n  flatline alerts ack 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e --comment "the checker is being repaired"\n',
    ask: async (daemon, { by, comment }: ActFlags, id: string) => {
      const body = { by: authorOf(by, context), comment };
      return daemon.send("POST", `${await alertPath(daemon, id)}/ack`, body, alertSchema);
    },
    say: ({ id, slug, check, severity }) =>
      `${id}: ${slug} ${check} is quiet until it is resolved, or worse than ${severity}\n`,
  });
}

/** `flatline alerts unack ID` */
export function addUnack(parent: Command, context: CliContext): void {
  const command = parent
    .command("unack")
    .description("take an acknowledgement back: reminders and escalation go on")
    .argument("<id>", "id that `alerts list` shows, or its first digits");
  daemonCommand(command, context, {
    json: "print the alert as JSON",
    help: "\nExample:\n  flatline alerts unack 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n",
    ask: async (daemon, _flags, id: string) =>
      daemon.send("DELETE", `${await alertPath(daemon, id)}/ack`, undefined, alertSchema),
    say: ({ id, slug, check }) => `${id}: ${slug} ${check} is no longer acknowledged\n`,
  });
}

/** `flatline alerts comment ID TEXT` */
export function addComment(parent: Command, context: CliContext): void {
  const command = parent
    .command("comment")
    .description("comment on an alert, for its next reader; no receiver is notified")
    .argument("<id>", "id of an alert that lives or has ended, or its first digits")
    .argument("<text>", "what you know")
    .option("--by <name>", "who acts [the operating system's user]");
  daemonCommand(command, context, {
    help: '\nExample:\n  flatline alerts comment 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e "opened ten by hand, nine load"\n',
    ask: async (daemon, { by }: ActFlags, given: string, comment: string) => {
      const id = await alertId(daemon, given);
      await daemon.send("POST", `${pathOf(id)}/comments`, { comment, by: authorOf(by, context) }, z.unknown());
      return id;
    },
    say: (id: string) => `${id}: comment stored\n`,
  });
}

/** `flatline alerts judge ID VERDICT` */
export function addJudge(parent: Command, context: CliContext): void {
  const command = parent
    .command("judge")
    .description("say what an alert was, so that the gate and `tune` learn from it")
    .argument("<id>", "id of an alert that fires or has ended, or its first digits")
    .addArgument(
      new Argument("<verdict>", "what it was; none takes back what was said").choices([...judgementVerdicts, "none"]),
    )
    .option("--comment <text>", "what you saw")
    .option("--by <name>", "who acts [the operating system's user]");
  daemonCommand(command, context, {
    json: "print the alert as JSON",
    help: judgeHelp,
    ask: async (daemon, { by, comment }: ActFlags, given: string, verdict: JudgementVerdict | "none") => {
      const path = `${await alertPath(daemon, given)}/judgement`;
      if (verdict === "none") return daemon.send("DELETE", path, undefined, alertDetailSchema);
      return daemon.send("POST", path, { verdict, by: authorOf(by, context), comment }, alertDetailSchema);
    },
    say: ({ id, slug, check }, { words: [, verdict] }) => {
      const what = verdict === "none" ? "is no longer judged" : `is judged ${verdict}: ${judgementMeanings[verdict]}`;
      return `${id}: ${slug} ${check} ${what}\n`;
    },
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

/** Returns the id of the alert that a person named by the first digits of it, or all of them. @throws as findAlertId */
export function alertId(daemon: Pick<DaemonClient, "readPublic">, given: string): Promise<string> {
  return findAlertId(given, async (prefix) => {
    const path = `/api/v1/alerts?id=${encodeURIComponent(prefix)}`;
    return (await daemon.readPublic(path, foundAlertsSchema)).alerts;
  });
}

/** Returns the path of the alert that a person named so. */
export async function alertPath(daemon: Pick<DaemonClient, "readPublic">, given: string): Promise<string> {
  return pathOf(await alertId(daemon, given));
}

function pathOf(id: string): string {
  return `/api/v1/alerts/${encodeURIComponent(id)}`;
}

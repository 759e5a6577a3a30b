import { InvalidArgumentError, type Command } from "commander";
import { breakAddresses } from "../base/broken-address.ts";
import { FlatlineError } from "../base/errors.ts";
import { judgementVerdicts, type JudgementVerdict } from "../contract/judgement.ts";
import type { EndedAlertRow, LiveAlert, LiveAlerts } from "../commands/daemon-answers.ts";
import { withDaemon } from "../commands/daemon-client.ts";
import { addAlertAssets } from "./alert-assets.ts";
import { addAlertShow } from "./alert-show.ts";
import { describeAuthor } from "../contract/actor.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";

interface AlertsFlags {
  readonly config?: string;
  readonly url?: string;
  readonly json?: boolean;
}

interface ListFlags extends AlertsFlags {
  readonly ended?: string;
}

interface AckFlags extends AlertsFlags {
  readonly by?: string;
  readonly comment?: string;
}

/** `flatline alerts list|ack|judge`, through the running daemon's HTTP API. */
export const registerAlerts: RegisterCommand = (program: Command, context: CliContext): void => {
  const alerts = program.command("alerts").description("what fires now, through the running daemon");
  addList(alerts, context);
  addAck(alerts, context);
  addAlertShow(alerts, context);
  addAlertAssets(alerts, context);
  addJudge(alerts, context);
};

function addList(parent: Command, context: CliContext): void {
  parent
    .command("list")
    .description("list live alerts, firing before pending, then the oldest first")
    .option("--ended <slug>", "those of one organization that ended in the last 90 days, with undone deaths")
    .option("-c, --config <file>", "configuration file, for server.listen and server.token")
    .option("--url <url>", "address of the daemon, in place of server.listen")
    .option("--json", "print {alerts: [{id, check, slug, kind, state, severity, …}], fleet}; with --ended an array")
    .addHelpText("after", listHelp)
    .action(async (flags: ListFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const { ended: slug } = flags;
      if (slug !== undefined) {
        const ended = await withDaemon(config, { ...context, url: flags.url ?? null }, (daemon) =>
          daemon.endedAlerts(slug),
        );
        context.stdout.write(flags.json === true ? `${JSON.stringify(ended, null, 2)}\n` : renderEnded(ended, context));
        return;
      }
      const live = await withDaemon(config, { ...context, url: flags.url ?? null }, (daemon) => daemon.alerts());
      context.stdout.write(flags.json === true ? `${JSON.stringify(live, null, 2)}\n` : renderAlerts(live, context));
    });
}

const listHelp = `
UNDONE: of the deaths from a window before its begin to its end, those whose asset was found alive again since.

Examples:
  flatline alerts list --json | jq -r '.alerts[] | select(.acknowledged | not) | .id'
  flatline alerts list --ended acme
`;

function addAck(parent: Command, context: CliContext): void {
  parent
    .command("ack")
    .description("acknowledge an alert: it is quiet until it is resolved, or worse than now")
    .argument("<id>", "id that `alerts list` shows")
    .option("--comment <text>", "what you know, or do about it")
    .option("--by <name>", "who [$USER]")
    .option("-c, --config <file>", "configuration file, for server.listen and server.token")
    .option("--url <url>", "address of the daemon, in place of server.listen")
    .option("--json", "print the alert as JSON")
    .addHelpText(
      "after",
      '\nExample:\n  flatline alerts ack 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e --comment "the checker is being repaired"\n',
    )
    .action(async (id: string, flags: AckFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const by = flags.by ?? context.env["USER"] ?? null;
      const alert = await withDaemon(config, { ...context, url: flags.url ?? null }, (daemon) =>
        daemon.acknowledge(id, by, flags.comment ?? null),
      ).catch(refuseUnknownId);
      const text = `${alert.id}: ${alert.slug} ${alert.check} is quiet until it is resolved, or worse than ${alert.severity}`;
      context.stdout.write(`${flags.json === true ? JSON.stringify(alert, null, 2) : text}\n`);
    });
}

const verdictMeanings = {
  checker: "the checker was wrong",
  real: "these assets did die",
  expected: "it was known beforehand",
} as const satisfies Record<JudgementVerdict, string>;

function addJudge(parent: Command, context: CliContext): void {
  parent
    .command("judge")
    .description("say what an alert was, so that the gate, the baseline and `tune` learn from it")
    .argument("<id>", "id of an alert that fires or has ended")
    .argument("<verdict>", "checker, real, expected; none takes back what was said", readVerdict)
    .option("--comment <text>", "what you saw")
    .option("--by <name>", "who [$USER]")
    .option("-c, --config <file>", "configuration file, for server.listen and server.token")
    .option("--url <url>", "address of the daemon, in place of server.listen")
    .option("--json", "print the alert as JSON")
    .addHelpText("after", judgeHelp)
    .action(async (id: string, verdict: JudgementVerdict | "none", flags: AckFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const said = { by: flags.by ?? context.env["USER"] ?? null, comment: flags.comment ?? null };
      const alert = await withDaemon(config, { ...context, url: flags.url ?? null }, (daemon) =>
        daemon.judge(id, verdict === "none" ? null : verdict, said),
      ).catch(refuseUnknownId);
      const what = verdict === "none" ? "is no longer judged" : `is judged ${verdict}: ${verdictMeanings[verdict]}`;
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

function readVerdict(text: string): JudgementVerdict | "none" {
  const verdict = [...judgementVerdicts, "none" as const].find((one) => one === text);
  if (verdict !== undefined) return verdict;
  throw new InvalidArgumentError(`must be ${judgementVerdicts.join(", ")} or none`);
}

/** An id that the daemon does not know was typed wrong. */
function refuseUnknownId(error: unknown): never {
  if (error instanceof FlatlineError && error.code === "not_found") throw new FlatlineError("usage", error.message);
  throw error;
}

function renderAlerts({ alerts, fleet }: LiveAlerts, context: CliContext): string {
  const verdict =
    fleet === null
      ? ""
      : `fleet verdict since ${seconds(fleet.startsAt)}: ${fleet.spiking} of ${fleet.organizations} organizations spike; suspect the liveness checker\n\n`;
  if (alerts.length === 0) return `${verdict}nothing fires\n`;
  const rows = alerts.map((alert) => [
    alert.severity,
    alert.state,
    alert.slug,
    alert.check,
    seconds(alert.startsAt),
    alert.notifiedAt === null || alert.notifiedAt === undefined ? "nobody yet" : seconds(alert.notifiedAt),
    alert.id,
    notes(alert),
  ]);
  const head = ["SEVERITY", "STATE", "ORGANIZATION", "CHECK", "DETECTED", "NOTIFIED", "ID", ""];
  return verdict + renderTable(head, rows, { context });
}

function renderEnded(ended: readonly EndedAlertRow[], context: CliContext): string {
  if (ended.length === 0) return "no alert ended in the last 90 days\n";
  const rows = ended.map(({ severity, check, kind, startsAt, endsAt, id, judgedCount, revivedCount, judgement }) => [
    severity,
    kind === "verdict" ? check : `${check} (${kind})`,
    seconds(startsAt),
    seconds(endsAt),
    id,
    judgedCount === null || revivedCount === null ? "" : `${revivedCount} of ${judgedCount}`,
    judgement?.verdict ?? "",
  ]);
  return renderTable(["SEVERITY", "CHECK", "BEGAN", "ENDED", "ID", "UNDONE", "JUDGED"], rows, {
    right: ["UNDONE"],
    context,
  });
}

function notes(alert: LiveAlert): string {
  const { silenced, acknowledged, acknowledgement, judgement, reason, onsetAt, marker } = alert;
  const who = describeAuthor(acknowledgement?.by ?? null, acknowledgement?.note);
  const why = acknowledgement?.comment ?? null;
  return [
    ...(silenced ? ["silenced"] : []),
    ...(acknowledged
      ? [`acknowledged${who === "" ? "" : ` by ${who}`}${why === null ? "" : `: ${breakAddresses(why)}`}`]
      : []),
    ...(judgement === null || judgement === undefined ? [] : [`judged ${wordJudgement(judgement)}`]),
    ...(silenced || acknowledged ? [] : [reason]),
    ...(onsetAt === null || onsetAt === undefined ? [] : [`began about ${seconds(onsetAt)}`]),
    ...(marker === null || marker === undefined ? [] : [`after «${breakAddresses(marker.text)}»`]),
  ].join(", ");
}

function wordJudgement({ verdict, by, note, comment }: NonNullable<LiveAlert["judgement"]>): string {
  const who = describeAuthor(by ?? null, note);
  return `${verdict}${who === "" ? "" : ` by ${who}`}${comment === null || comment === undefined ? "" : `: ${breakAddresses(comment)}`}`;
}

/** Without the fraction, which nobody reads. */
function seconds(instant: string): string {
  return instant.replace(/\.\d+Z$/, "Z");
}

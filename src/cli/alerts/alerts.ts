import type { Command } from "commander";

import { breakAddresses } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount, formatPercent } from "../../base/numbers.ts";
import { ifMissing, type DaemonClient } from "../daemon-client.ts";
import { describeAuthor } from "../../contract/actor.ts";
import { ratioWords } from "../../contract/death-counts.ts";
import { compareSeverity, severities } from "../../contract/severity.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { CheckName } from "../../contract/report.ts";
import { alertListSchema, type EndedAlertAnswer, type LiveAlert, type LiveAlerts } from "../../contract/v1/alerts.ts";
import { checkDetailSchema, checkListSchema } from "../../contract/v1/checks.ts";
import { formatLength } from "../../web/parts/figures.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { daemonCommand, type DaemonFlags } from "../daemon-flags.ts";
import { renderTable } from "../table.ts";
import { addAck, addComment, addJudge, addUnack } from "./acts.ts";
import { addAlertAssets } from "./assets.ts";
import { addAlertShow } from "./show.ts";

interface ListFlags extends DaemonFlags {
  readonly ended?: string;
}

/** `flatline alerts list|ack|unack|show|assets|judge|comment`, through the running daemon's HTTP API. */
export const registerAlerts: RegisterCommand = (program: Command, context: CliContext): void => {
  const alerts = program.command("alerts").description("what fires now, through the running daemon");
  addList(alerts, context);
  addAck(alerts, context);
  addUnack(alerts, context);
  addAlertShow(alerts, context);
  addAlertAssets(alerts, context);
  addJudge(alerts, context);
  addComment(alerts, context);
};

function addList(parent: Command, context: CliContext): void {
  const command = parent
    .command("list")
    .description("list live alerts, firing before pending, then the worst first")
    .option("--ended <slug>", "those of one organization that ended in the last 90 days, with undone deaths");
  daemonCommand(command, context, {
    json: "print {alerts: [{id, check, slug, kind, state, severity, …}], fleet}; with --ended an array",
    help: listHelp,
    ask: (daemon, { ended: slug }: ListFlags): Promise<LiveAlerts | readonly EndedAlertRow[]> =>
      slug === undefined ? daemon.readPublic("/api/v1/alerts", alertListSchema) : readEnded(daemon, slug),
    say: (found) => ("alerts" in found ? renderAlerts(found, context) : renderEnded(found, context)),
  });
}

/** An alert that ended, and the check that it is of. */
type EndedAlertRow = EndedAlertAnswer & { readonly check: CheckName };

/** Reads those of one organization over all its checks, newest first. @throws not_found */
async function readEnded(daemon: DaemonClient, slug: string): Promise<readonly EndedAlertRow[]> {
  const name = encodeURIComponent(slug);
  const checks = await daemon.readPublic(`/api/v1/checks?slug=${name}`, checkListSchema);
  if (checks.length === 0) throw new FlatlineError("not_found", `no organization ${slug} is checked`);
  const found = await Promise.all(
    checks.map(async ({ check }) => {
      // A reload may have removed it meanwhile.
      const answer = await daemon.readPublic(`/api/v1/checks/${check}/${name}`, checkDetailSchema).catch(ifMissing);
      return (answer?.endedAlerts ?? []).map((alert) => ({ ...alert, check }));
    }),
  );
  return found.flat().toSorted((left, right) => (left.endsAt < right.endsAt ? 1 : -1));
}

const worstFirst: readonly string[] = severities.toSorted((left, right) => compareSeverity(right, left));

const listHelp = `
PEAK: the most deaths that a run has counted. RATIO: the deaths of the last run to those that it expected. UNDONE: of its
deaths with a known asset, the share that was found alive again. BEGAN: when the excess began, as far as the events show it.
LASTED: since it began, else since it was detected. WHO: the author of the last act. NOTES: silenced, acknowledged, judged, else
the reason of its last change, such as not_ok or for_elapsed ("Reasons" in docs/alerts.md); and the marker that is near. A
narrow terminal goes without columns, NOTES first and ID never. With --ended, UNDONE is of the deaths from a window before its
begin to its end, those found alive again since.

Examples:
  flatline alerts list --json | jq -r '.alerts[] | select(.acknowledged | not) | .id'
  flatline alerts list --ended acme
`;

function renderAlerts({ alerts, fleet }: LiveAlerts, context: CliContext): string {
  const verdict =
    fleet === null
      ? ""
      : `fleet verdict since ${withoutFraction(fleet.startsAt)}: ${fleet.spiking} of ${fleet.organizations} organizations spike; suspect the liveness checker\n\n`;
  if (alerts.length === 0) return `${verdict}nothing fires\n`;
  const rows = alerts
    .toSorted(compareLive)
    .map((alert) => [
      alert.severity,
      alert.state,
      alert.slug,
      alert.check,
      formatCount(alert.peak.currentCount),
      ratioWords(alert) ?? "",
      alert.revivedShare === null ? "" : formatPercent(alert.revivedShare),
      alert.beganAt === null ? "" : withoutFraction(alert.beganAt),
      lastedText(alert, context.clock.nowMs()),
      withoutFraction(alert.startsAt),
      alert.notifiedAt === null ? "none yet" : withoutFraction(alert.notifiedAt),
      alert.judgement?.verdict ?? "",
      whoText(alert),
      shortId(alert.id),
      notes(alert),
    ]);
  return verdict + renderTable(liveHead, rows, { right: ["PEAK", "RATIO", "UNDONE", "LASTED"], dispensable, context });
}

const liveHead =
  "SEVERITY STATE ORGANIZATION CHECK PEAK RATIO UNDONE BEGAN LASTED DETECTED NOTIFIED JUDGED WHO ID NOTES".split(" ");
// The id goes last: each act takes it.
const dispensable = ["NOTES", "WHO", "JUDGED", "NOTIFIED", "DETECTED", "LASTED", "BEGAN", "UNDONE", "RATIO", "CHECK"];

/** Orders firing alerts before pending ones, then the worst first, then the oldest. */
function compareLive(left: LiveAlert, right: LiveAlert): number {
  return (
    Number(left.state === "pending") - Number(right.state === "pending") ||
    worstFirst.indexOf(left.severity) - worstFirst.indexOf(right.severity) ||
    Date.parse(left.startsAt) - Date.parse(right.startsAt)
  );
}

function renderEnded(ended: readonly EndedAlertRow[], context: CliContext): string {
  if (ended.length === 0) return "no alert ended in the last 90 days\n";
  const rows = ended.map(({ severity, check, kind, startsAt, endsAt, id, judgedCount, revivedCount, judgement }) => [
    severity,
    kind === "verdict" ? check : `${check} (${kind})`,
    withoutFraction(startsAt),
    withoutFraction(endsAt),
    shortId(id),
    judgedCount === null || revivedCount === null ? "" : `${revivedCount} of ${judgedCount}`,
    judgement?.verdict ?? "",
  ]);
  return renderTable(["SEVERITY", "CHECK", "DETECTED", "ENDED", "ID", "UNDONE", "JUDGED"], rows, {
    right: ["UNDONE"],
    context,
  });
}

function notes(alert: LiveAlert): string {
  const { silenced, acknowledged, acknowledgement, judgement, reason, marker } = alert;
  const who = describeAuthor(acknowledgement?.by ?? null, acknowledgement?.note);
  const why = acknowledgement?.comment ?? null;
  return [
    ...(silenced ? ["silenced"] : []),
    ...(acknowledged
      ? [`acknowledged${who === "" ? "" : ` by ${who}`}${why === null ? "" : `: ${breakAddresses(why)}`}`]
      : []),
    ...(judgement === null ? [] : [`judged ${wordJudgement(judgement)}`]),
    ...(silenced || acknowledged ? [] : [reason]),
    ...(marker === null ? [] : [`after «${breakAddresses(marker.text)}»`]),
  ].join(", ");
}

function wordJudgement({ verdict, by, note, comment }: NonNullable<LiveAlert["judgement"]>): string {
  const who = describeAuthor(by ?? null, note);
  return `${verdict}${who === "" ? "" : ` by ${who}`}${comment === null || comment === undefined ? "" : `: ${breakAddresses(comment)}`}`;
}

/** Every command takes the first digits of an id. */
function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Returns how long an alert lasts, from the begin of its excess: as on the page. */
export function lastedText({ beganAt, startsAt }: LiveAlert, nowMs: number): string {
  return formatLength(nowMs - Date.parse(beganAt ?? startsAt));
}

/** Returns the author of the last act; empty where there is none, or the reader has no right to it. */
function whoText({ judgement, acknowledgement }: LiveAlert): string {
  const isJudged = judgement !== null && Date.parse(judgement.at) >= Date.parse(acknowledgement?.at ?? judgement.at);
  const act = isJudged ? judgement : acknowledgement;
  return describeAuthor(act?.by ?? null, act?.note);
}

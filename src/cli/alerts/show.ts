import type { Command } from "commander";

import { breakAddresses, ownOrigins } from "../../base/broken-address.ts";
import { withoutFraction } from "../../base/instant.ts";
import { formatCount } from "../../base/numbers.ts";
import { ifMissing, type DaemonClient } from "../daemon-client.ts";
import { describeAuthor } from "../../contract/actor.ts";
import { countText } from "../../contract/death-counts.ts";
import { brokenResult } from "../../contract/healthcheck.ts";
import { alertDetailSchema, type AlertDetailAnswer } from "../../contract/v1/alerts.ts";
import { checkDetailSchema, type CheckDetailAnswer } from "../../contract/v1/checks.ts";
import { deadAssetPageSchema, type DeadAssetPage } from "../../contract/v1/dead-assets.ts";
import type { CliContext } from "../context.ts";
import { daemonCommand } from "../daemon-flags.ts";
import { renderTable } from "../table.ts";
import { alertPath } from "./acts.ts";

/** `flatline alerts show ID` */
export function addAlertShow(parent: Command, context: CliContext): void {
  const command = parent
    .command("show")
    .description("show an alert with its evidence and what people said of it")
    .argument("<id>", "id that `alerts list` shows, live or ended, or its first digits");
  daemonCommand(command, context, {
    json: "print {alert, result, resultAt, undone, assets}; of an alert that has ended, result is that of its worst run",
    help: "\nExample:\n  flatline alerts show 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e\n",
    ask: async (daemon, _flags, id: string) => readShownAlert(daemon, await alertPath(daemon, id)),
    say: (shown, { found }) => renderAlert(shown, ownOrigins(...found.ownAddresses), context),
  });
}

function renderAlert(shown: ShownAlert, own: readonly string[], context: CliContext): string {
  const rows = [...alertRows(shown), ...evidenceRows(shown, own)].filter(([, text]) => text !== "");
  return renderTable(["ALERT", shown.alert.id], rows, { context });
}

type Row = readonly [name: string, text: string];

function alertRows({ alert, assets, result }: ShownAlert): Row[] {
  const { slug, check, kind, state, severity, startsAt, notifiedAt, endsAt, onsetAt, marker, peak, labels } = alert;
  const after = marker === null ? "" : `, after «${breakAddresses(marker.text)}»`;
  const count = peak.currentCount === null ? "" : `, ${countText(peak.currentCount, result)}`;
  const { acknowledgement, judgement } = alert;
  return [
    ["organization", slug],
    ["check", kind === "verdict" ? check : `${check} (${kind})`],
    ["severity", `${severity}, ${state}${alert.silenced ? ", silenced" : ""}`],
    // The three instants, in their order: since when, since when flatline saw it, since when people were notified.
    ["began", onsetAt === null ? "" : `about ${withoutFraction(onsetAt)}${after}`],
    ["detected", withoutFraction(startsAt)],
    ["notified", notifiedAt === null ? "" : withoutFraction(notifiedAt)],
    ["ended", endsAt === null ? "" : withoutFraction(endsAt)],
    ["peak", `${peak.severity}${count}, ${withoutFraction(peak.at)}`],
    ["reason", alert.reason],
    ["acknowledged", acknowledgement === undefined ? "" : saidBy(acknowledgement.by, acknowledgement.comment)],
    [
      "judged",
      judgement === null
        ? ""
        : `${judgement.verdict} ${saidBy(judgement.by ?? null, judgement.comment ?? null)}`.trim(),
    ],
    // Those that came with acts stand beside them.
    ...(alert.comments ?? [])
      .filter(({ act }) => act === null)
      .map(({ at, actor, note, text }): Row => [
        "comment",
        `${describeAuthor(actor, note)}, ${withoutFraction(at)}: ${breakAddresses(text)}`,
      ]),
    [
      "labels",
      Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(", "),
    ],
    [
      "assets",
      assets === null
        ? ""
        : `${formatCount(assets.count)} deaths, ${formatCount(assets.knownCount)} different assets known: flatline alerts assets ${alert.id}`,
    ],
  ];
}

function evidenceRows(shown: ShownAlert, own: readonly string[]): Row[] {
  return [...resultRows(shown, own), ...undoneRows(shown)];
}

function undoneRows({ undone }: ShownAlert): Row[] {
  if (undone === null) return [];
  const { count, known, revisedCause } = undone;
  return [
    ["undone by now", `${formatCount(count)} of ${formatCount(known)} deaths of known assets`],
    ["revised cause", revisedCause === null ? "" : `checker: ${revisedCause}`],
  ];
}

function resultRows({ result: found, resultAt }: ShownAlert, own: readonly string[]): Row[] {
  if (found === null) return [];
  const result = brokenResult(found, own);
  const { likelyCause, likelyCauseReason, revivedCount } = result.observed;
  const reason = typeof likelyCauseReason === "string" ? `: ${likelyCauseReason}` : "";
  return [
    ["as of", resultAt === null ? "" : `the run at ${withoutFraction(resultAt)}, when it was ${result.severity}`],
    ...result.findings.map((finding): Row => ["finding", finding.message]),
    ["likely cause", typeof likelyCause === "string" ? `${likelyCause}${reason}` : ""],
    [
      "undone",
      typeof revivedCount === "number" && revivedCount > 0
        ? `${formatCount(revivedCount)} of the deaths ${resultAt === null ? "so far" : "by then"}`
        : "",
    ],
    // There is nothing to do about an alert that is over.
    ["what to do", resultAt === null ? (result.suggestedAction ?? "") : ""],
  ];
}

function saidBy(by: string | null, comment: string | null): string {
  return `${by === null ? "" : `by ${by}`}${comment === null ? "" : `: ${breakAddresses(comment)}`}`;
}

/** An alert with the result that speaks for it, and how many assets died in it. */
interface ShownAlert {
  readonly alert: Omit<AlertDetailAnswer, "result" | "resultAt">;
  /** While it lives its check's last one; of an ended alert that of its worst run. null: there is none, or none is kept. */
  readonly result: CheckDetailAnswer["result"];
  /** When the result was found, of an alert that has ended. */
  readonly resultAt: string | null;
  /** What of its deaths was found alive again by now, of an alert that ended lately. null: unknown. */
  readonly undone: { readonly count: number; readonly known: number; readonly revisedCause: string | null } | null;
  /** null: it has none, or the token may not read them. */
  readonly assets: Pick<DeadAssetPage, "count" | "knownCount"> | null;
}

/** Reads an alert that lives or has ended. @throws not_found */
async function readShownAlert(daemon: Pick<DaemonClient, "read">, path: string): Promise<ShownAlert> {
  const { result, resultAt, ...alert } = await daemon.read(path, alertDetailSchema);
  const isOver = alert.endsAt !== null;
  const checkPath = `/api/v1/checks/${encodeURIComponent(alert.check)}/${encodeURIComponent(alert.slug)}`;
  const check = await daemon.read(checkPath, checkDetailSchema).catch(ifMissing);
  const { revivedCount, judgedCount, revisedCause } = check?.endedAlerts.find((one) => one.id === alert.id) ?? {};
  const assets = await daemon.read(`${path}/assets?limit=1`, deadAssetPageSchema).catch(ifMissing);
  return {
    alert,
    result: isOver ? (result ?? null) : (check?.result ?? null),
    resultAt: resultAt ?? null,
    undone:
      typeof revivedCount === "number" && typeof judgedCount === "number"
        ? { count: revivedCount, known: judgedCount, revisedCause: revisedCause ?? null }
        : null,
    assets: assets === null ? null : { count: assets.count, knownCount: assets.knownCount },
  };
}

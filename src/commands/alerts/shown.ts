import { alertDetailSchema, type AlertDetailAnswer } from "../../contract/v1/alerts.ts";
import { checkDetailSchema, type CheckDetailAnswer } from "../../contract/v1/checks.ts";
import { deadAssetPageSchema, type DeadAssetPage } from "../../contract/v1/dead-assets.ts";
import { ifMissing, type DaemonClient } from "../daemon-client.ts";

/** An alert with the result that speaks for it, and how many assets died in it. */
export interface ShownAlert {
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
export async function readShownAlert(daemon: Pick<DaemonClient, "read">, id: string): Promise<ShownAlert> {
  const path = `/api/v1/alerts/${encodeURIComponent(id)}`;
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

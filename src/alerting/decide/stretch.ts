import type { JudgedStretch } from "../../contract/judgement.ts";
import type { KeptAlert } from "../../store/alerts/alerts.ts";
import { deathsBeginAtMs } from "./gate.ts";

/** Returns the stretch that leaves the baseline with an alert that is judged `checker`; null: the alert is not one of these. */
export function stretchOf({ alert, end }: KeptAlert, windowHours: number): JudgedStretch | null {
  const { check, kind, judgement } = alert;
  if (check !== "dead-asset-spike" || kind !== "verdict" || judgement?.verdict !== "checker") return null;
  return { fromMs: deathsBeginAtMs(alert, windowHours), toMs: end?.atMs ?? null, judgedAtMs: judgement.atMs };
}

import type { GatePolicy } from "../../src/alerting/decide/gate.ts";
import type { JudgementVerdict } from "../../src/contract/judgement.ts";
import type { AlertEnd } from "../../src/store/alerts/alerts.ts";

/** One alert as the contract speaks of it. */
export interface GateModelAlert {
  readonly id: string;
  readonly check: string;
  severity: "warn" | "fail";
  /** null: it fires. */
  end: Pick<AlertEnd, "isByRun" | "baselineExclusion"> | null;
  verdict: JudgementVerdict | null;
  /** `isSince`: since it last became fail. */
  acknowledged: { isSince: boolean; readonly severity: "warn" | "fail" } | null;
  /** When it last became fail; null: it never did. */
  failedAtMs: number | null;
  isReleased: boolean;
}

/** The gate of one organization in its plainest form (contract section 12, "Gate"); for tests to compare with. */
export class GateModel {
  readonly alerts: GateModelAlert[] = [];
  readonly #releaseOn: GatePolicy["releaseOn"];

  constructor(releaseOn: GatePolicy["releaseOn"]) {
    this.#releaseOn = releaseOn;
  }

  live(check: string): GateModelAlert | undefined {
    return this.alerts.find((alert) => alert.check === check && alert.end === null);
  }

  /** A run of the check was not ok; `id` is that of its alert. */
  notOk(id: string, check: string, severity: "warn" | "fail", atMs: number): void {
    const known = this.live(check);
    if (known === undefined) {
      const failedAtMs = severity === "fail" ? atMs : null;
      const fresh = { end: null, verdict: null, acknowledged: null, isReleased: false };
      this.alerts.push({ ...fresh, id, check, severity, failedAtMs });
      return;
    }
    if (severity === "fail" && known.severity === "warn") {
      known.failedAtMs = atMs;
      known.isReleased = false;
      if (known.acknowledged?.severity === "warn") known.acknowledged = null;
      if (known.acknowledged !== null) known.acknowledged.isSince = false;
    }
    known.severity = severity;
  }

  end(check: string, end: NonNullable<GateModelAlert["end"]>): void {
    const known = this.live(check);
    if (known !== undefined) known.end = end;
  }

  /** The organization left the configuration. */
  leave(): void {
    for (const alert of this.alerts) alert.end ??= { isByRun: false, baselineExclusion: null };
  }

  release(): void {
    for (const alert of this.alerts) if (alert.failedAtMs !== null) alert.isReleased = true;
  }

  /** What the gate has to answer. */
  answer(): { readonly decision: "allow" | "hold"; readonly reason: string; readonly sinceMs: number | null } {
    const failed = this.alerts.filter(({ failedAtMs }) => failedAtMs !== null);
    const holding = failed.filter((alert) => !this.#isFree(alert));
    if (holding.length > 0) {
      const isFiring = holding.some(({ end, severity }) => end === null && severity === "fail");
      const sinceMs = Math.min(...holding.map(({ failedAtMs }) => failedAtMs ?? Infinity));
      return { decision: "hold", reason: isFiring ? "fail_firing" : "fail_latched", sinceMs };
    }
    const last = failed.length === 0 ? null : Math.max(...failed.map(({ failedAtMs }) => failedAtMs ?? 0));
    return { decision: "allow", reason: failed.length === 0 ? "no_failure" : "released", sinceMs: last };
  }

  #isFree({ isReleased, verdict, end, acknowledged }: GateModelAlert): boolean {
    if (isReleased) return true;
    const isSound = end !== null && end.isByRun && end.baselineExclusion !== "too_much";
    const isJudged = verdict === "real" || verdict === "expected" || (verdict === "checker" && isSound);
    const isSeen = acknowledged?.isSince === true;
    return this.#releaseOn.some(
      (way) =>
        (way === "judged" && isJudged) || (way === "acknowledged" && isSeen) || (way === "resolved" && end !== null),
    );
  }
}

import type { CheckName } from "../../contract/report.ts";
import type { KeptAlert } from "./alerts.ts";

/** An alert that reached fail while it fired. */
export interface GateFailure extends KeptAlert {
  /** When it was recorded that it last became a failure. */
  readonly failedAtMs: number;
  /** When the gate was released by hand since; null: it was not. */
  readonly releasedAtMs: number | null;
}

/** One end of a hold: by hand for all that had failed, or of one alert's failure. */
export interface GateReleaseEntry {
  readonly slug: string;
  readonly atMs: number;
  readonly how: "released" | "judged" | "acknowledged" | "resolved";
  /** null: by hand. */
  readonly alertId: string | null;
  readonly by: string | null;
  readonly comment: string | null;
}

/** What the gate is decided from (alerting/decide/gate.ts), beside the judgements. */
export interface GateStore {
  /** Excludes others who change the gate of this organization until the transaction ends; before anything of it is read. */
  takeTurn(slug: string): Promise<void>;
  /** Notes that an alert has become a failure, for the first time or again. */
  fail(alert: { readonly id: string; readonly check: CheckName; readonly slug: string }, atMs: number): Promise<void>;
  /** Of one organization, or of all that were not released by hand. */
  failures(slug?: string): Promise<readonly GateFailure[]>;
  /** Those whose alert ended at or before `beforeMs`, released or not. */
  endedBy(beforeMs: number): Promise<readonly GateFailure[]>;
  /** Releases by hand all that have failed by now. */
  releaseAll(slug: string, atMs: number): Promise<void>;
  /** Deletes these failures, so that their alerts can be pruned. */
  forget(alertIds: readonly string[]): Promise<void>;
  addRelease(release: GateReleaseEntry): Promise<void>;
  /** The latest ones, newest first. */
  releases(slug: string, limit: number): Promise<readonly GateReleaseEntry[]>;
  /** Deletes releases before `beforeMs`. */
  prune(beforeMs: number): Promise<void>;
}

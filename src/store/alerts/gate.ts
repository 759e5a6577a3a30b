/** Somebody let deaths of an organization be acted on again, by hand. */
export interface GateRelease {
  readonly slug: string;
  readonly atMs: number;
  readonly by: string | null;
  readonly comment: string | null;
}

/** Releases of the gate (alerting/decide/gate.ts); what else releases it is in the history of the alerts. */
export interface GateStore {
  addRelease(release: GateRelease): Promise<void>;
  /** At or after `fromMs`, oldest first. */
  releases(slug: string, fromMs: number): Promise<readonly GateRelease[]>;
  /** Deletes those before `beforeMs`. */
  prune(beforeMs: number): Promise<void>;
}

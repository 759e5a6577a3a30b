/** Whether all is well; the reasons are for people. */
export interface HealthVerdict {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

export interface HealthPort {
  /** The scheduler and the outbox tick. */
  isHealthy(): HealthVerdict;
  /** The store is open, the configuration is applied, and the process is not stopping. */
  isReady(): HealthVerdict;
}

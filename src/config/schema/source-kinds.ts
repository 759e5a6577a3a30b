/** What depends on the kind of a source, beside its own keys. */
export interface SourceKind {
  /** Whether flatline evaluates; else the platform does, whose API knows the mean of the whole baseline only. */
  readonly isLocal: boolean;
  /** Whether the liveness events are in flatline's own store. */
  readonly holdsEvents: boolean;
  /** Whether it lists reports and takes reviews of proposals. */
  readonly hasReports: boolean;
}

/** All kinds of sources, by `source.type`. Everyone else asks for what a source can, not which it is. */
export const sourceKinds = {
  remote: { isLocal: false, holdsEvents: false, hasReports: true },
  embedded: { isLocal: true, holdsEvents: true, hasReports: true },
  postgres: { isLocal: true, holdsEvents: false, hasReports: false },
  clickhouse: { isLocal: true, holdsEvents: false, hasReports: false },
} as const satisfies Readonly<Record<string, SourceKind>>;
export type SourceType = keyof typeof sourceKinds;

export const defaultSourceType = "remote" satisfies SourceType;

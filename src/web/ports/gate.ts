import type { Actor } from "../../contract/actor.ts";
import type { CheckName } from "../../contract/report.ts";

/** One release of the gate: by hand, or of the alert that held it. */
export interface ListedRelease {
  readonly atMs: number;
  readonly how: "released" | "judged" | "acknowledged" | "resolved";
  /** null: by hand. */
  readonly alertId: string | null;
  /** null: by the configuration, or without a name. */
  readonly by: string | null;
  readonly comment: string | null;
}

/** Whether a pipeline may act on an organization's deaths, and why. */
export interface GateView {
  readonly slug: string;
  readonly decision: "allow" | "hold";
  /** Named, so that a pipeline can distinguish them (alerting/decide/gate.ts). */
  readonly reason: string;
  /** The alert whose failure decided; null where none did. */
  readonly failure: { readonly alertId: string; readonly check: CheckName } | null;
  /** While it holds, since when. */
  readonly sinceMs: number | null;
  /** Deaths before it are not in question; null: none are. */
  readonly suspectFromMs: number | null;
  /** The reason in words. */
  readonly message: string;
  /** What opens it, in words, while it holds: "when judged or released"; else null. */
  readonly opens: string | null;
  /** The latest ones, newest first. */
  readonly releases: readonly ListedRelease[];
}

export interface GatePort {
  /**
   * null: no such organization is configured, and none that was once is on hold. @throws FlatlineError unavailable when the
   * store cannot be read
   */
  look(slug: string): Promise<GateView | null>;
  /**
   * Every gate that holds, by a failure or because nothing is known, worst first, and the slugs of those that are open.
   * @throws FlatlineError as in `look`
   */
  all(): Promise<{ readonly held: readonly GateView[]; readonly open: readonly string[] }>;
  /** Lets deaths be acted on again by hand, and records it. null: as in `look`. */
  release(slug: string, author: Actor, comment: string): Promise<GateView | null>;
}

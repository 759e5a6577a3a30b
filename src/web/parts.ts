import type { SilenceBook } from "../alerting/silence-book.ts";
import type { ByteBudget } from "../base/request-body.ts";
import type { Actor } from "../contract/actor.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { Sessions } from "./access/sessions.ts";
import type { EventsPort } from "./api/event-routes.ts";
import type { HealthPort } from "./api/metrics-routes.ts";
import type { Hooks } from "./api/hook-routes.ts";
import type { Links } from "./pages/link.ts";
import type { Site } from "./pages/site.ts";
import type { AlertAssets } from "./read/dead-assets.ts";
import type { IncidentReading } from "./read/incidents.ts";
import type { Running } from "./read/running.ts";
import type { UnwatchedReading } from "./read/unwatched.ts";

/** The parts of the daemon that routes use. */
export interface DaemonParts {
  readonly version: string;
  readonly running: Running;
  readonly alertAssets: AlertAssets;
  readonly silences: SilenceBook;
  readonly unwatched: UnwatchedReading;
  /** null: the source is not a local one. */
  readonly events: () => EventsPort | null;
  readonly hooks: Hooks;
  readonly links: Links;
  readonly health: HealthPort;
  /** Reloads the configuration. @throws FlatlineError invalid_config with an issue for each problem */
  readonly reload: (author: Actor) => Promise<void>;
  /** The effective configuration as JSON, with secrets as `***`. */
  readonly showConfiguration: () => Readonly<Record<string, unknown>>;
  /** The answer of `/metrics`, in pieces. */
  readonly renderMetrics: () => Promise<readonly Buffer[]>;
  /**
   * Runs a check without counting or storing it; equal probes share one run. After `timeoutMs` the report has the error
   * `timeout`; null: the organization has no such check.
   */
  readonly probe: (check: CheckName, slug: string, timeoutMs: number) => Promise<CheckReport | null>;
}

/** The same, with the parts that all routes of a server share. */
export interface WebParts extends DaemonParts {
  readonly bodies: ByteBudget;
  readonly sessions: Sessions;
  readonly site: Site;
  readonly incidents: IncidentReading;
}

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

/** What the daemon gives its routes: each takes what it needs. */
export interface DaemonParts {
  /** Of flatline. */
  readonly version: string;
  readonly running: Running;
  readonly alertAssets: AlertAssets;
  readonly silences: SilenceBook;
  readonly unwatched: UnwatchedReading;
  /** Asked at each request; null while the source is not a local one. */
  readonly events: () => EventsPort | null;
  readonly hooks: Hooks;
  readonly links: Links;
  readonly health: HealthPort;
  /** Reads the configuration again and applies it. @throws FlatlineError invalid_config with one issue per problem */
  readonly reload: (author: Actor) => Promise<void>;
  /** The effective configuration as JSON shows it, secrets as `***`. */
  readonly showConfiguration: () => unknown;
  /** The whole answer of `/metrics`, in pieces. */
  readonly renderMetrics: () => Promise<readonly Buffer[]>;
  /**
   * Runs the check now without counting or storing it, shared with other probes of the same; an error report with
   * reason `timeout` when it does not end within `timeoutMs`. Null: the organization has no such check.
   */
  readonly probe: (check: CheckName, slug: string, timeoutMs: number) => Promise<CheckReport | null>;
}

/** The same with what is made once for all routes of a server. */
export interface WebParts extends DaemonParts {
  readonly bodies: ByteBudget;
  readonly sessions: Sessions;
  readonly site: Site;
  readonly incidents: IncidentReading;
}

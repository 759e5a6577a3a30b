import type { CheckName, CheckReport } from "../../contract/report.ts";
import type { ExpositionEncoding } from "../../metrics/exposition-body.ts";
import type { ExpositionFormat } from "../../metrics/exposition.ts";

export interface MetricsPort {
  /** The whole answer of `/metrics`. */
  render(format: ExpositionFormat, encoding: ExpositionEncoding): Promise<Buffer>;
}

export interface ProbePort {
  /**
   * Runs the check now without counting or storing it, shared with other probes of the same; an error report with reason
   * `timeout` when it does not end within `timeoutMs`. Null: no such check of such an organization is configured.
   */
  probe(check: CheckName, slug: string, timeoutMs: number): Promise<CheckReport | null>;
}

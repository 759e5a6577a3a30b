import type { FastifyInstance } from "fastify";
import { z } from "zod";

import type { AlertView } from "../../alerting/view.ts";
import { FlatlineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggestions.ts";
import { checkKind } from "../../checks/checks.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { compareSeverity } from "../../contract/severity.ts";
import { checkSchema, runReportSchema } from "../../contract/v1/alerts.ts";
import type { RowOf } from "../../contract/v1/answer.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import { isStale, type CheckState } from "../read/running.ts";
import { addRoute } from "../route.ts";

/** Adds `/api/v1/checks…` (CONTRACT 8). */
export function addCheckRoutes(server: FastifyInstance, { running }: WebParts): void {
  const { checks, clock, checkNames } = running;
  const alertsByCheck = async () => Map.groupBy((await running.fleet()).alerts, checkKey);
  addRoute(server, "GET /api/v1/checks", {
    access: "public",
    says: "Every check of every organization, or of one",
    query: z.object({ slug: z.string().optional() }),
    answer: z.array(checkSchema),
    handle: async ({ query: { slug }, withDetails }) => {
      const alerts = await alertsByCheck();
      const states = checks.all().filter((state) => slug === undefined || state.slug === slug);
      return states.map((state) =>
        viewCheck(state, alerts.get(checkKey(state)) ?? [], { nowMs: clock.nowMs(), withDetails }),
      );
    },
  });
  addRoute(server, "GET /api/v1/checks/:check/:slug", {
    access: "public",
    says: "One check",
    answer: checkSchema,
    handle: async ({ params: { check, slug }, withDetails }) => {
      const state = checks.of(check, slug);
      if (state === null) throw unknownCheck(check, slug, checkNames());
      const alerts = (await alertsByCheck()).get(checkKey(state)) ?? [];
      return viewCheck(state, alerts, { nowMs: clock.nowMs(), withDetails });
    },
  });
  addRoute(server, "POST /api/v1/checks/:check/:slug/run", {
    access: "operate",
    says: "Runs it now, as its schedule does",
    answer: runReportSchema,
    handle: async ({ request, params: { check, slug }, withDetails }) => {
      if (!checkNames().includes(check)) throw unknownCheck(check, slug, checkNames());
      return viewReport(await running.runNow(check, slug, authorOf(request)), withDetails);
    },
  });
}

/** Returns the error for an unknown check, or one that this organization does not have. */
export function unknownCheck(name: string, slug: string, known: readonly CheckName[]): FlatlineError {
  const message = known.includes(name)
    ? `no check ${name} is configured for ${JSON.stringify(slug)}`
    : `there is no check ${JSON.stringify(name)}: ${known.join(", ")}${suggest(name, known)}`;
  return new FlatlineError("not_found", message);
}

const neverRun = { severity: null, severitySinceMs: null, lastRunAtMs: null, lastSuccessAtMs: null, lastReport: null };

/** Returns a check as the API shows it. `withDetails`: also findings of the review queue. */
export function viewCheck(
  state: CheckState,
  alerts: readonly AlertView[],
  { nowMs, withDetails }: { readonly nowMs: number; readonly withDetails: boolean },
): RowOf<typeof checkSchema> {
  const last = state.last ?? neverRun;
  const { lastReport } = last;
  const isTooOld = isStale(state, nowMs);
  const sorted = alerts.toSorted(compareAlerts).map(viewAlert);
  return {
    ...last,
    check: state.check,
    slug: state.slug,
    isRunning: state.isRunning,
    nextRunAtMs: state.nextDueAtMs,
    severity: isTooOld ? "unknown" : last.severity,
    isStale: isTooOld,
    result: isTooOld ? null : resultOf(lastReport, withDetails),
    error: lastReport?.kind === "error" ? lastReport.error : null,
    alert: sorted[0] ?? null,
    alerts: sorted,
  };
}

/** Returns the answer to a run on request. */
export function viewReport(report: CheckReport, withDetails: boolean): RowOf<typeof runReportSchema> {
  const error = report.kind === "error" ? report.error : null;
  return { ...report, result: resultOf(report, withDetails), error };
}

function viewAlert({ onset, isSilenced: silenced, ...alert }: AlertView) {
  const { atMs: onsetAtMs = null, marker = null } = onset ?? {};
  return { ...alert, silenced, onsetAtMs, marker };
}

function compareAlerts(left: AlertView, right: AlertView): number {
  if (left.state !== right.state) return left.state === "firing" ? -1 : 1;
  return compareSeverity(right.severity, left.severity);
}

function resultOf(report: CheckReport | null, withDetails: boolean): HealthcheckResult | null {
  return report?.kind === "result" ? viewResult(report.check, report.result, withDetails) : null;
}

/** Returns the result that the reader may see (CONTRACT 8). */
export function viewResult(check: CheckName, result: HealthcheckResult, withDetails: boolean): HealthcheckResult {
  const { isClosedFinding } = checkKind(check);
  if (isClosedFinding === undefined || withDetails) return result;
  return { ...result, findings: result.findings.filter((finding) => !isClosedFinding(finding)) };
}

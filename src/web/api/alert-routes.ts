import type { FastifyInstance } from "fastify";

import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { FlatlineError } from "../../base/errors.ts";
import { stoppedAtMsOf } from "../../contract/spike-evidence.ts";
import {
  alertDetailSchema,
  alertListSchema,
  commentSchema,
  type AlertCommentAnswer,
  type AlertDetailAnswer,
  type LiveAlert,
  type LiveAlerts,
} from "../../contract/v1/alerts.ts";
import { iso, withInstants } from "../../contract/v1/instant.ts";
import type { AlertComment, JudgementEntry } from "../../store/alerts/log.ts";
import { authorOf } from "../access/identity.ts";
import { askedActs, rightOf } from "../acts.ts";
import type { WebParts } from "../parts.ts";
import { actOnOne, findAlert, showAlerts, type AlertDetail, type ShownAlert } from "../read/alerts.ts";
import { addRoute } from "../route.ts";
import { viewJudgement, viewOnsetMarker, viewResult } from "./check-routes.ts";

const path = "/api/v1/alerts/:id";

/** Adds `/api/v1/alerts…`: live alerts, one alert, and acts. */
export function addAlertRoutes(server: FastifyInstance, { running, alertAssets }: WebParts): void {
  const find = async (id: string): Promise<AlertDetail> => {
    const found = await findAlert(running, id);
    if (found === null) throw new FlatlineError("not_found", "no alert has this id");
    return found;
  };
  const addAct = (route: `${"POST" | "DELETE"} ${typeof path}/${string}`, kind: IncidentAct["kind"], says: string) =>
    addRoute(server, route, {
      access: rightOf(kind),
      says,
      body: askedActs[kind],
      answer: alertDetailSchema,
      handle: async ({ request, params: { id }, body, withDetails }) => {
        const { act, by } = body(running.clock.nowMs());
        await actOnOne(running, id, act, authorOf(request, by));
        return viewDetail(await find(id), withDetails);
      },
    });
  addRoute(server, "GET /api/v1/alerts", {
    access: "public",
    says: "What is pending and what fires",
    answer: alertListSchema,
    handle: async ({ withDetails }): Promise<LiveAlerts> => {
      const live = await showAlerts(running, (await running.fleet()).alerts);
      return { alerts: live.map((alert) => viewAlert(alert, withDetails)) };
    },
  });
  addRoute(server, `GET ${path}`, {
    access: "public",
    says: "One alert, live or ended",
    answer: alertDetailSchema,
    handle: async ({ params: { id }, withDetails }) => {
      const detail = await find(id);
      const cost = await alertAssets.costOf([detail]);
      return { ...viewDetail(detail, withDetails), ...(cost === null ? {} : { cost }) };
    },
  });
  addAct(`POST ${path}/judgement`, "judge", "Judges it");
  addAct(`DELETE ${path}/judgement`, "withdraw", "Takes its judgement back");
  addAct(`POST ${path}/ack`, "acknowledge", "Acknowledges it");
  addAct(`DELETE ${path}/ack`, "unacknowledge", "Takes its acknowledgement back");
  addRoute(server, `POST ${path}/comments`, {
    access: "operate",
    says: "Comments on it",
    body: askedActs.comment,
    answer: commentSchema,
    status: 201,
    handle: async ({ request, params: { id }, body }) => {
      const { act, by } = body(running.clock.nowMs());
      const made = await actOnOne(running, id, act, authorOf(request, by));
      return made === null ? null : viewComment(made);
    },
  });
}

/** Returns an alert with its end and its worst result; `withPeople`: also its judgements and comments. */
function viewDetail(detail: AlertDetail, withPeople: boolean): AlertDetailAnswer {
  const { end, judgements, comments, check, worstResult } = detail;
  const worst =
    worstResult === null
      ? { result: null, resultAt: null }
      : { result: viewResult(check, worstResult.result, withPeople), resultAt: iso(worstResult.atMs) };
  return {
    ...viewAlert(detail, withPeople),
    ...(end === null ? {} : worst),
    endsAt: iso(end?.atMs ?? null),
    ...(withPeople ? { judgements: viewJudgements(judgements), comments: comments.map(viewComment) } : {}),
  };
}

export function viewComment({ atMs, by, note, text, act }: AlertComment): AlertCommentAnswer {
  return { at: iso(atMs), actor: by, note, text, act };
}

/** Returns judgements, oldest first; a withdrawal ends the one before it. */
function viewJudgements(entries: readonly JudgementEntry[]): NonNullable<AlertDetailAnswer["judgements"]> {
  return entries.flatMap(({ verdict, comment, by, note, atMs }, index) => {
    if (verdict === null) return [];
    const next = entries[index + 1];
    const withdrawnAt = next?.verdict === null ? iso(next.atMs) : null;
    return [{ verdict, comment, by, note, at: iso(atMs), withdrawnAt }];
  });
}

/** Returns an alert as the API shows it. `withPeople`: who acknowledged it and why, which only operators see. */
export function viewAlert(shown: ShownAlert, withPeople: boolean): LiveAlert {
  const { end, lastResult, isSilenced, target, notifiedAtMs } = shown;
  const { id, check, slug, kind, severity, startsAtMs, firingAtMs, peak, onset, reason, acknowledgement } = shown;
  const { labels = {}, url = null } = target ?? {};
  const onsetAtMs = onset?.atMs ?? null;
  const times = { startsAtMs, beganAtMs: onsetAtMs, detectedAtMs: startsAtMs, notifiedAtMs, firingAtMs, onsetAtMs };
  return {
    ...withInstants({ id, check, slug, kind, severity, ...times, reason, labels, url }),
    state: end === null ? shown.state : "resolved",
    marker: viewOnsetMarker(onset),
    silenced: isSilenced,
    incidentId: shown.incident?.id ?? null,
    incidentNumber: shown.incident?.number ?? null,
    acknowledged: acknowledgement !== null,
    judgement: viewJudgement(shown.judgement ?? null, withPeople),
    peak: { severity: peak.severity, currentCount: peak.currentCount, at: iso(peak.atMs) },
    ...viewCounts(lastResult),
    ...viewExcess(shown),
    ...(withPeople && acknowledgement !== null ? { acknowledgement: viewAcknowledgement(acknowledgement) } : {}),
  };
}

function viewAcknowledgement({ atMs, by, note, comment, severity }: NonNullable<ShownAlert["acknowledgement"]>) {
  return { at: iso(atMs), by, note, comment, severity };
}

function viewExcess({ found }: ShownAlert): Partial<LiveAlert> {
  const excess = found?.excess;
  if (excess === undefined) return {};
  const { state, deathsLastHour, usualPerHour, expectedEndAtMs } = excess;
  const times = { excessStoppedAt: iso(stoppedAtMsOf(excess)), expectedEndAt: iso(expectedEndAtMs) };
  return { excess: state, deathsLastHour, usualPerHour, ...times };
}

function viewCounts(
  lastResult: ShownAlert["lastResult"],
): Pick<LiveAlert, "currentCount" | "expectedCount" | "ratio" | "revivedCount" | "revivedShare"> {
  const { currentCount = null, expectedCount = null, ratio = null } = lastResult?.counts ?? {};
  const { revivedCount, revivedShare } = lastResult?.result.observed ?? {};
  return {
    currentCount,
    expectedCount,
    ratio,
    revivedCount: typeof revivedCount === "number" ? revivedCount : null,
    revivedShare: typeof revivedShare === "number" ? revivedShare : null,
  };
}

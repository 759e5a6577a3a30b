import type { FastifyInstance } from "fastify";

import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { FlatlineError } from "../../base/errors.ts";
import { stoppedAtMsOf } from "../../contract/spike-evidence.ts";
import { alertDetailSchema, alertListSchema, type alertSchema, commentSchema } from "../../contract/v1/alerts.ts";
import type { RowOf } from "../../contract/v1/answer.ts";
import type { AlertComment, JudgementEntry } from "../../store/alerts/log.ts";
import { authorOf } from "../access/admission.ts";
import { askedActs, rightOf } from "../acts.ts";
import type { WebParts } from "../parts.ts";
import { actOnOne, findAlert, showAlerts, type AlertDetail, type ShownAlert } from "../read/alerts.ts";
import { addRoute } from "../route.ts";
import { viewResult } from "./check-routes.ts";

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
    handle: async () => ({ alerts: (await showAlerts(running, (await running.fleet()).alerts)).map(viewAlert) }),
  });
  addRoute(server, `GET ${path}`, {
    access: "public",
    says: "One alert, live or ended",
    answer: alertDetailSchema,
    handle: async ({ params: { id }, withDetails }) => {
      const detail = await find(id);
      const cost = await alertAssets.costOf([detail]);
      return { ...viewDetail(detail, withDetails), cost: cost ?? undefined };
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

/** Returns an alert with its end, its worst result, its judgements and comments. */
function viewDetail(detail: AlertDetail, withDetails: boolean): RowOf<typeof alertDetailSchema> {
  const { end, judgements, comments, check, worstResult: worst } = detail;
  const result = worst && viewResult(check, worst.result, withDetails);
  return {
    ...viewAlert(detail),
    ...(end === null ? {} : { result, resultAtMs: worst?.atMs ?? null }),
    endsAtMs: end?.atMs ?? null,
    judgements: viewJudgements(judgements),
    comments: comments.map(viewComment),
  };
}

export function viewComment({ by: actor, ...comment }: AlertComment) {
  return { ...comment, actor };
}

/** Returns judgements, oldest first; a withdrawal ends the one before it. */
function viewJudgements(entries: readonly JudgementEntry[]) {
  return entries.flatMap(({ verdict, ...entry }, index) => {
    if (verdict === null) return [];
    const next = entries[index + 1];
    return [{ ...entry, verdict, withdrawnAtMs: next?.verdict === null ? next.atMs : null }];
  });
}

/** Returns an alert as the API shows it. */
export function viewAlert(shown: ShownAlert): RowOf<typeof alertSchema> {
  const { end, lastResult, incident, acknowledgement } = shown;
  const { labels = {}, url = null } = shown.target ?? {};
  const { atMs: onsetAtMs = null, marker = null } = shown.onset ?? {};
  const { currentCount = null, expectedCount = null, ratio = null } = lastResult?.counts ?? {};
  const { revivedCount, revivedShare } = lastResult?.result.observed ?? {};
  return {
    ...shown,
    state: end === null ? shown.state : "resolved",
    beganAtMs: onsetAtMs,
    detectedAtMs: shown.startsAtMs,
    onsetAtMs,
    marker,
    silenced: shown.isSilenced,
    incidentId: incident?.id ?? null,
    incidentNumber: incident?.number ?? null,
    acknowledged: acknowledgement !== null,
    acknowledgement: acknowledgement ?? undefined,
    judgement: shown.judgement ?? null,
    currentCount,
    expectedCount,
    ratio,
    revivedCount: typeof revivedCount === "number" ? revivedCount : null,
    revivedShare: typeof revivedShare === "number" ? revivedShare : null,
    ...viewExcess(shown),
    labels,
    url,
  };
}

function viewExcess({ found }: ShownAlert) {
  if (found?.excess === undefined) return {};
  const { state: excess, ...figures } = found.excess;
  return { excess, ...figures, excessStoppedAtMs: stoppedAtMsOf(found.excess) };
}

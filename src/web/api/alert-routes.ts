import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import type { ByteBudget } from "../../base/request-body.ts";
import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { FlatlineError } from "../../base/errors.ts";
import { stoppedAtMsOf } from "../../contract/spike-evidence.ts";
import { judgementVerdicts } from "../../contract/judgement.ts";
import type {
  AlertCommentAnswer,
  AlertDetailAnswer,
  FleetAnswer,
  LiveAlert,
  LiveAlerts,
} from "../../contract/v1/alerts.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { AlertComment, JudgementEntry } from "../../store/alerts/log.ts";
import { authorOf, seesDetails } from "../access/identity.ts";
import { viewJudgement, viewOnsetMarker, viewResult } from "./check-view.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { AlertAssets } from "../read/alert-assets.ts";
import type { LiveFleet } from "../../alerting/view.ts";
import type { AlertDetail, AlertReading, AlertSnapshot } from "../read/alerts.ts";
import { addResource, takeJsonBodies } from "../resource.ts";
import {
  alertDetailSchema,
  alertListSchema,
  alertSchema,
  commentSchema as alertCommentSchema,
} from "../../contract/v1/alerts.ts";
import { commentSchema, nameSchema, nonBlank, readInput, reasonSchema } from "./read-input.ts";

const acknowledgementSchema = z.strictObject({ by: nameSchema.optional(), comment: commentSchema.optional() });

const judgementSchema = z.strictObject({
  verdict: z.enum(judgementVerdicts, `must be one of ${judgementVerdicts.join(", ")}`),
  ...acknowledgementSchema.shape,
});

const bodySchema = z.strictObject({ comment: reasonSchema, by: nameSchema.optional() });

/** `/api/v1/alerts…`: live alerts, one alert, and acts, which need the right to read them (CONTRACT 13). */
export function addAlertRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  {
    alerts,
    alertAssets,
    bodies,
  }: {
    readonly alerts: AlertReading;
    readonly alertAssets: Pick<AlertAssets, "costOf">;
    readonly bodies: ByteBudget;
  },
): void {
  takeJsonBodies(scope, bodies);
  const idOf = ({ params }: FastifyRequest): string => (params as { readonly id: string }).id;
  const act = (request: FastifyRequest, given: IncidentAct, by: string | null = null): Promise<AlertComment | null> =>
    alerts.act(idOf(request), given, authorOf(request, by));
  const judge = async (request: FastifyRequest, given: IncidentAct, by?: string): Promise<AlertDetailAnswer> => {
    await act(request, given, by);
    return viewDetail(known(await alerts.find(idOf(request))), seesDetails(request));
  };
  const acknowledge = async (request: FastifyRequest, given: IncidentAct, by?: string | null): Promise<LiveAlert> => {
    await act(request, given, by);
    return viewAlert(known(await alerts.find(idOf(request))), seesDetails(request));
  };
  addResource(scope, "/api/v1/alerts", settings, {
    GET: {
      access: "public",
      about: { says: "What is pending and what fires", answer: alertListSchema },
      handle: async (request): Promise<LiveAlerts> => {
        const live = await alerts.list();
        const withPeople = seesDetails(request);
        return {
          alerts: live.alerts.map((alert) => viewAlert(alert, withPeople)),
          fleet: live.fleet === null ? null : viewFleet(live.fleet),
        };
      },
    },
  });
  addResource(scope, "/api/v1/alerts/:id", settings, {
    GET: {
      access: "public",
      about: { says: "One alert, live or ended", answer: alertDetailSchema },
      handle: async (request) => {
        const detail = known(await alerts.find(idOf(request)));
        const cost = await alertAssets.costOf([detail.state]);
        return { ...viewDetail(detail, seesDetails(request)), ...(cost === null ? {} : { cost }) };
      },
    },
  });
  addResource(scope, "/api/v1/alerts/:id/judgement", settings, {
    POST: {
      access: "gate",
      about: { says: "Judges it", body: judgementSchema, answer: alertDetailSchema },
      handle: async (request) => {
        const { verdict, by, comment } = readInput(judgementSchema, request.body, "not a judgement");
        return judge(request, { kind: "judge", verdict, comment: nonBlank(comment) }, by);
      },
    },
    DELETE: {
      access: "gate",
      about: { says: "Takes its judgement back", answer: alertDetailSchema },
      handle: (request) => judge(request, { kind: "withdraw" }),
    },
  });
  addResource(scope, "/api/v1/alerts/:id/comments", settings, {
    POST: {
      access: "operate",
      about: { says: "Comments on it", body: bodySchema, answer: alertCommentSchema, status: 201 },
      handle: async (request, reply) => {
        const { comment, by } = readInput(bodySchema, request.body, "not a comment");
        const made = await act(request, { kind: "comment", comment }, by);
        return reply.code(201).send(made === null ? null : viewComment(made));
      },
    },
  });
  addResource(scope, "/api/v1/alerts/:id/ack", settings, {
    POST: {
      access: "operate",
      about: { says: "Acknowledges it", body: acknowledgementSchema, answer: alertSchema },
      handle: async (request) => {
        const { by, comment } = readAcknowledgement(request.body);
        return acknowledge(request, { kind: "acknowledge", comment }, by);
      },
    },
    DELETE: {
      access: "operate",
      about: { says: "Takes its acknowledgement back", answer: alertSchema },
      handle: (request) => acknowledge(request, { kind: "unacknowledge" }),
    },
  });
}

function known(alert: AlertDetail | null): AlertDetail {
  if (alert === null) throw new FlatlineError("not_found", "no alert has this id");
  return alert;
}

function readAcknowledgement(body: unknown): { readonly by: string | null; readonly comment: string | null } {
  // A body is not needed: who only wants quiet need not say why.
  const { by = null, comment } = readInput(acknowledgementSchema, body ?? {}, "not an acknowledgement");
  return { by, comment: nonBlank(comment) };
}

/** An alert with its end, the result of its worst run, and all that was said of it for who may read that. */
function viewDetail(detail: AlertDetail, withPeople: boolean): AlertDetailAnswer {
  const { endsAtMs, judgements, comments, state, worstResult } = detail;
  const worst =
    worstResult === null
      ? { result: null, resultAt: null }
      : { result: viewResult(state.check, worstResult.result, withPeople), resultAt: iso(worstResult.atMs) };
  return {
    ...viewAlert(detail, withPeople),
    ...(endsAtMs === null ? {} : { state: "resolved", ...worst }),
    endsAt: iso(endsAtMs),
    ...(withPeople ? { judgements: viewJudgements(judgements), comments: comments.map(viewComment) } : {}),
  };
}

/** A comment as the API shows it. */
export function viewComment({ atMs, by, note, text, act }: AlertComment): AlertCommentAnswer {
  return { at: iso(atMs), actor: by, note, text, act };
}

/** Oldest first; a withdrawal is an end of the one before it. */
function viewJudgements(entries: readonly JudgementEntry[]): NonNullable<AlertDetailAnswer["judgements"]> {
  return entries.flatMap(({ verdict, comment, by, note, atMs }, index) => {
    if (verdict === null) return [];
    const next = entries[index + 1];
    const withdrawnAt = next?.verdict === null ? iso(next.atMs) : null;
    return [{ verdict, comment, by, note, at: iso(atMs), withdrawnAt }];
  });
}

/** Times are ISO 8601. `withPeople`: who acknowledged it and why, which as with silences is the operator's business. */
export function viewAlert(snapshot: AlertSnapshot, withPeople: boolean): LiveAlert {
  const { state, lastResult, silenced, labels, url, notifiedAtMs } = snapshot;
  const { id, check, slug, kind, severity, startsAtMs, firingAtMs, peak, onset, reason, acknowledgement } = state;
  const judgement = viewJudgement(state.judgement ?? null, withPeople);
  return {
    id,
    check,
    slug,
    kind,
    state: state.state,
    severity,
    startsAt: iso(startsAtMs),
    beganAt: iso(onset?.atMs ?? null),
    detectedAt: iso(startsAtMs),
    notifiedAt: iso(notifiedAtMs),
    firingAt: iso(firingAtMs),
    onsetAt: iso(onset?.atMs ?? null),
    marker: viewOnsetMarker(onset),
    silenced,
    incidentId: state.incident?.id ?? null,
    incidentNumber: state.incident?.number ?? null,
    acknowledged: acknowledgement !== null,
    judgement,
    peak: { severity: peak.severity, currentCount: peak.currentCount, at: iso(peak.atMs) },
    ...viewCounts(lastResult),
    ...viewExcess(state),
    reason,
    labels,
    url,
    ...(withPeople && acknowledgement !== null
      ? {
          acknowledgement: {
            at: iso(acknowledgement.atMs),
            by: acknowledgement.by,
            note: acknowledgement.note,
            comment: acknowledgement.comment,
            severity: acknowledgement.severity,
          },
        }
      : {}),
  };
}

function viewExcess({ found }: AlertSnapshot["state"]): Partial<LiveAlert> {
  const excess = found?.excess;
  if (excess === undefined) return {};
  const { state, deathsLastHour, usualPerHour, expectedEndAtMs } = excess;
  const times = { excessStoppedAt: iso(stoppedAtMsOf(excess)), expectedEndAt: iso(expectedEndAtMs) };
  return { excess: state, deathsLastHour, usualPerHour, ...times };
}

function viewCounts(
  lastResult: AlertSnapshot["lastResult"],
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

/** Totals without names. */
function viewFleet(fleet: LiveFleet): FleetAnswer {
  const { id, check, isSent, startsAtMs, spiking, peakSpiking, organizations, evidence } = fleet;
  const { beganAtMs, markers, undone } = evidence;
  return {
    id,
    check,
    state: isSent ? "sent" : "forming",
    startsAt: iso(startsAtMs),
    beganAt: iso(beganAtMs),
    detectedAt: iso(startsAtMs),
    spiking,
    peakSpiking,
    organizations,
    markers: markers.map(({ text, atMs }) => ({ text, at: iso(atMs) })),
    undone,
  };
}

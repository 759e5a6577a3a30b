import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { ByteBudget } from "../../base/request-body.ts";
import type { Clock } from "../../base/time.ts";
import { familiesOf } from "../../contract/incident.ts";
import { judgementVerdicts } from "../../contract/judgement.ts";
import { opinionWords } from "../../contract/second-opinion.ts";
import type {
  IncidentActAnswer,
  IncidentAnswer,
  IncidentDetailAnswer,
  IncidentListAnswer,
  LookAnswer,
} from "../../contract/v1/incidents.ts";
import { iso } from "../../contract/v1/instant.ts";
import { authorOf, seesDetails } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { AlertReading } from "../read/alerts.ts";
import type { CheckReading } from "../read/checks.ts";
import type { AlertAssets } from "../read/alert-assets.ts";
import { referenceOf, type IncidentReading, type ReadIncident, type IncidentDetail } from "../read/incidents.ts";
import type { LookedAt } from "../../store/alerts/looks.ts";
import { headline } from "../../words/headline.ts";
import { askedActs, rightOf } from "../acts.ts";
import { addResource, takeJsonBodies, type Method } from "../resource.ts";
import { viewAlert, viewComment } from "./alert-routes.ts";
import { cursorSchema, writeCursor } from "./paging.ts";
import {
  incidentActSchema,
  incidentDetailSchema,
  incidentListSchema,
  lookSchema,
} from "../../contract/v1/incidents.ts";
import { nameSchema, readInput } from "./read-input.ts";

const defaultIncidents = 50;
const mostIncidents = 200;

const limitProblem = `must be a whole number from 1 to ${mostIncidents}`;
const notListing = "not a listing of incidents";
const listSchema = z.strictObject({
  state: z.enum(["open", "ended", "all"], "must be open, ended or all").default("open"),
  family: z.string().optional(),
  since: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .optional(),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, limitProblem)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= mostIncidents, limitProblem)
    .optional(),
  cursor: cursorSchema(z.tuple([z.int().positive()])).optional(),
});

const lookBody = z.strictObject({ by: nameSchema.optional() });
const actQuerySchema = z.strictObject({ dryRun: z.enum(["true", "false"], "must be true or false").optional() });

/** Where each act is, and what it says of itself. */
const actPaths: Readonly<Record<string, Partial<Record<"POST" | "DELETE", readonly [IncidentAct["kind"], string]>>>> = {
  ack: {
    POST: ["acknowledge", "Acknowledges all that fires in it"],
    DELETE: ["unacknowledge", "Takes the acknowledgement back"],
  },
  judgement: { POST: ["judge", "Judges its alerts"], DELETE: ["withdraw", "Takes the judgement back"] },
  release: { POST: ["release", "Releases what its alerts hold"] },
  silence: { POST: ["silence", "Silences its organizations"] },
  comments: { POST: ["comment", "Comments on it"] },
};

export interface IncidentRoutesOptions {
  readonly checks: Pick<CheckReading, "names">;
  readonly incidents: IncidentReading;
  readonly alerts: Pick<AlertReading, "snapshots">;
  readonly alertAssets: Pick<AlertAssets, "costOf">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly bodies: ByteBudget;
}

type ListedLook = NonNullable<NonNullable<IncidentDetailAnswer["secondOpinion"]>["answers"]>[number];

function idOf({ params }: FastifyRequest): string {
  return (params as { readonly id: string }).id;
}

function noFamily(families: readonly string[]): FlatlineError {
  return new FlatlineError("invalid_data", notListing, {
    issues: [`family: must be one of ${families.join(", ")}`],
  });
}

/** `/api/v1/incidents…` (CONTRACT 15). */
export function addIncidentRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { checks, incidents, alerts, alertAssets, clock, bodies: budget }: IncidentRoutesOptions,
): void {
  takeJsonBodies(scope, budget);
  async function find(request: FastifyRequest): Promise<IncidentDetail> {
    const found = await incidents.find(idOf(request));
    if (found === null) throw new FlatlineError("not_found", "no incident has this number or id");
    return found;
  }

  /** Does what the body says to the incident of the path. */
  function acting(kind: IncidentAct["kind"], says: string): Method {
    return {
      access: rightOf(kind),
      about: { says, query: actQuerySchema, body: askedActs[kind].body, answer: incidentActSchema },
      handle: async (request): Promise<IncidentActAnswer> => {
        const { act, slugs, by } = askedActs[kind].read(request.body, clock.nowMs());
        const { dryRun } = readInput(actQuerySchema, request.query, "not an act on an incident");
        const asked = { incident: referenceOf(idOf(request)), author: authorOf(request, by), slugs };
        const result =
          dryRun === "true" ? (await incidents.foresee(asked))(act) : await incidents.act({ ...asked, act });
        const { done, skipped, gatesOpened, gatesHeld } = result;
        return { done: [...done], skipped: [...skipped], gatesOpened: [...gatesOpened], gatesHeld: [...gatesHeld] };
      },
    };
  }

  addResource(scope, "/api/v1/incidents", settings, {
    GET: {
      access: "public",
      about: { says: "Incidents, newest first", query: listSchema, answer: incidentListSchema },
      handle: async (request): Promise<IncidentListAnswer> => {
        const query = readInput(listSchema, request.query, notListing);
        const { state, family, since, limit = defaultIncidents, cursor } = query;
        const families = familiesOf(checks.names());
        if (family !== undefined && !families.includes(family)) throw noFamily(families);
        const page = await incidents.list({
          state,
          limit,
          ...(family === undefined ? {} : { family }),
          ...(since === undefined ? {} : { sinceMs: since }),
          ...(cursor === undefined ? {} : { before: cursor[0] }),
        });
        return {
          incidents: page.incidents.map((one) => viewIncident(one, seesDetails(request), clock.nowMs())),
          ...(page.next === null ? {} : { cursor: writeCursor([page.next]) }),
        };
      },
    },
  });
  addResource(scope, "/api/v1/incidents/:id", settings, {
    GET: {
      access: "public",
      about: { says: "One incident, by number or id", answer: incidentDetailSchema },
      handle: async (request): Promise<IncidentDetailAnswer> => {
        const found = await find(request);
        const withPeople = seesDetails(request);
        const snapshots = await alerts.snapshots(found.members);
        const summaryOpinion = viewOpinion(found.summary);
        return {
          ...viewIncident(found, withPeople, clock.nowMs()),
          alerts: found.members.flatMap(({ end }, index) => {
            const snapshot = snapshots[index];
            if (snapshot === undefined) return [];
            const ended = end === null ? {} : { state: "resolved" };
            return [{ ...viewAlert(snapshot, withPeople), ...ended, endsAt: iso(end?.atMs ?? null) }];
          }),
          ...(withPeople ? { judgements: countJudgements(found), comments: viewComments(found) } : {}),
          ...(summaryOpinion === null
            ? {}
            : {
                secondOpinion: {
                  ...summaryOpinion,
                  ...(withPeople ? { answers: found.answers.map(viewLooked) } : {}),
                },
              }),
          cost: await alertAssets.costOf(found.members.map(({ alert }) => alert)),
        };
      },
    },
  });
  for (const [path, { POST, DELETE }] of Object.entries(actPaths))
    addResource(scope, `/api/v1/incidents/:id/${path}`, settings, {
      ...(POST && { POST: acting(...POST) }),
      ...(DELETE && { DELETE: acting(...DELETE) }),
    });
  addResource(scope, "/api/v1/incidents/:id/second-opinion", settings, {
    POST: {
      access: "operate",
      about: { says: "Asks the verifier now", body: lookBody, answer: lookSchema, status: 202 },
      handle: async (request, reply): Promise<LookAnswer> => {
        const { by } = readInput(lookBody, request.body ?? {}, "no request for a look");
        const { incident } = await find(request);
        const { number } = await incidents.look(incident, authorOf(request, by));
        // It goes on for a minute or more.
        reply.code(202);
        return { look: number };
      },
    },
  });
}

function viewIncident(read: ReadIncident, withPeople: boolean, nowMs: number): IncidentAnswer {
  const { incident, summary, members } = read;
  const { startedAtMs, endedAtMs, onsetAtMs, excessStoppedAtMs, acknowledgedBy, ...rest } = summary;
  const { verdict } = incident;
  const spiking = new Set(
    members.flatMap(({ alert, end }) => (end === null && alert.check === "dead-asset-spike" ? [alert.slug] : [])),
  ).size;
  return {
    ...rest,
    headline: [...headline(read.headline, { nowMs, withPeople })],
    startedAt: iso(startedAtMs),
    endedAt: iso(endedAtMs),
    onsetAt: iso(onsetAtMs),
    excessStoppedAt: iso(excessStoppedAtMs),
    carriers: [...summary.carriers],
    secondOpinion: viewOpinion(summary),
    ...(withPeople ? { acknowledgedBy } : {}),
    fleet:
      verdict === null
        ? null
        : {
            id: incident.id,
            startsAt: iso(verdict.startsAtMs),
            spiking,
            peakSpiking: verdict.peakSpiking,
            organizations: verdict.organizations,
            together: verdict.together,
            usual: verdict.usual,
            probability: verdict.probability,
          },
  };
}

function viewOpinion({ secondOpinion }: ReadIncident["summary"]): IncidentAnswer["secondOpinion"] {
  if (secondOpinion === null) return null;
  const { asked, alive, gone, verdict } = secondOpinion;
  return { asked, alive, gone, verdict, finding: opinionWords(secondOpinion) };
}

function viewLooked({ asset, assetType, role, answer, detail }: LookedAt): ListedLook {
  return { asset, assetType, role, answer, detail };
}

function countJudgements({ members }: ReadIncident): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(judgementVerdicts.map((verdict) => [verdict, 0]));
  for (const { alert } of members) {
    const verdict = alert.judgement?.verdict;
    if (verdict !== undefined) counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
  return counts;
}

function viewComments({ comments }: IncidentDetail): NonNullable<IncidentDetailAnswer["comments"]> {
  return comments.map((one) => ({ ...viewComment(one), slug: one.slug }));
}

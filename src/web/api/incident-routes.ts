import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { parseDuration } from "../../base/durations.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { ByteBudget } from "../../base/request-body.ts";
import type { Clock } from "../../base/time.ts";
import { familiesOf } from "../../contract/incident.ts";
import { judgementVerdicts } from "../../contract/judgement.ts";
import { opinionWords } from "../../contract/second-opinion.ts";
import { longestSlug } from "../../contract/slug.ts";
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
import { addResource, takeJsonBodies, type Described } from "../resource.ts";
import { viewAlert, viewComment } from "./alert-routes.ts";
import { cursorSchema, writeCursor } from "./paging.ts";
import {
  incidentActSchema,
  incidentDetailSchema,
  incidentListSchema,
  lookSchema,
} from "../../contract/v1/incidents.ts";
import { commentSchema, nameSchema, nonBlank, readInput, reasonSchema } from "./read-input.ts";

const defaultIncidents = 50;
const mostIncidents = 200;
// More organizations than there are reach by leaving `slugs` out.
const mostSlugs = 20_000;

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

const common = {
  slugs: z.array(z.string().min(1).max(longestSlug)).min(1, "names no organization").max(mostSlugs).optional(),
  by: nameSchema.optional(),
};
interface CommonBody {
  readonly slugs?: string[] | undefined;
  readonly by?: string | undefined;
}

const endsAt = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  context.addIssue('must be a duration, as "1h" or "30m"');
  return z.NEVER;
});

const bodies = {
  acknowledge: z.strictObject({ ...common, comment: commentSchema.optional() }),
  takeBack: z.strictObject(common),
  judge: z.strictObject({
    ...common,
    verdict: z.enum(judgementVerdicts, `must be one of ${judgementVerdicts.join(", ")}`),
    comment: commentSchema.optional(),
  }),
  release: z.strictObject({ ...common, comment: reasonSchema }),
  silence: z
    .strictObject({ ...common, endsAt: endsAt.optional(), duration: duration.optional(), comment: reasonSchema })
    .refine((body) => (body.endsAt === undefined) !== (body.duration === undefined), {
      path: ["endsAt"],
      message: "give this or duration",
    }),
  comment: z.strictObject({ ...common, comment: reasonSchema }),
};

const lookBody = z.strictObject({ by: nameSchema.optional() });
const actQuerySchema = z.strictObject({ dryRun: z.enum(["true", "false"], "must be true or false").optional() });

const aboutAct = (says: string, body: z.ZodType): Described => ({
  says,
  query: actQuerySchema,
  body,
  answer: incidentActSchema,
});

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
  function acting<Body extends CommonBody>(
    schema: z.ZodType<Body>,
    actOf: (body: Body) => IncidentAct,
  ): (request: FastifyRequest) => Promise<IncidentActAnswer> {
    return async (request) => {
      const body = readInput(schema, request.body ?? {}, "not an act on an incident");
      const { dryRun } = readInput(actQuerySchema, request.query, "not an act on an incident");
      const result = await incidents[dryRun === "true" ? "foresee" : "act"]({
        incident: referenceOf(idOf(request)),
        act: actOf(body),
        author: authorOf(request, body.by),
        slugs: body.slugs ?? null,
      });
      const { done, skipped, gatesOpened, gatesHeld } = result;
      return { done: [...done], skipped: [...skipped], gatesOpened: [...gatesOpened], gatesHeld: [...gatesHeld] };
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
  addResource(scope, "/api/v1/incidents/:id/ack", settings, {
    POST: {
      access: "operate",
      about: aboutAct("Acknowledges all that fires in it", bodies.acknowledge),
      handle: acting(bodies.acknowledge, ({ comment: text }) => ({ kind: "acknowledge", comment: nonBlank(text) })),
    },
    DELETE: {
      access: "operate",
      about: aboutAct("Takes the acknowledgement back", bodies.takeBack),
      handle: acting(bodies.takeBack, () => ({ kind: "unacknowledge" })),
    },
  });
  addResource(scope, "/api/v1/incidents/:id/judgement", settings, {
    POST: {
      access: "gate",
      about: aboutAct("Judges its alerts", bodies.judge),
      handle: acting(bodies.judge, ({ verdict, comment: text }) => ({
        kind: "judge",
        verdict,
        comment: nonBlank(text),
      })),
    },
    DELETE: {
      access: "gate",
      about: aboutAct("Takes the judgement back", bodies.takeBack),
      handle: acting(bodies.takeBack, () => ({ kind: "withdraw" })),
    },
  });
  addResource(scope, "/api/v1/incidents/:id/release", settings, {
    POST: {
      access: "gate",
      about: aboutAct("Releases what its alerts hold", bodies.release),
      handle: acting(bodies.release, ({ comment: text }) => ({ kind: "release", comment: text })),
    },
  });
  addResource(scope, "/api/v1/incidents/:id/silence", settings, {
    POST: {
      access: "operate",
      about: aboutAct("Silences its organizations", bodies.silence),
      handle: acting(bodies.silence, ({ endsAt: until, duration: forMs = 0, comment: text }) => ({
        kind: "silence",
        endsAtMs: until ?? clock.nowMs() + forMs,
        comment: text,
      })),
    },
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
  addResource(scope, "/api/v1/incidents/:id/comments", settings, {
    POST: {
      access: "operate",
      about: aboutAct("Comments on it", bodies.comment),
      handle: acting(bodies.comment, ({ comment: text }) => ({ kind: "comment", comment: text })),
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

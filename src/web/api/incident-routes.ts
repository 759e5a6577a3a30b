import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { noIncident } from "../../alerting/acts/incident-acts.ts";
import type { IncidentAct } from "../../alerting/acts/plan-act.ts";
import { familiesOf } from "../../contract/incident.ts";
import { judgementVerdicts } from "../../contract/judgement.ts";
import { opinionWords } from "../../contract/second-opinion.ts";
import type { RowOf } from "../../contract/v1/answer.ts";
import {
  incidentActSchema,
  incidentDetailSchema,
  incidentListSchema,
  type incidentSchema,
  lookSchema,
} from "../../contract/v1/incidents.ts";
import { headline } from "../../words/headline.ts";
import { authorOf } from "../access/admission.ts";
import { askedActs, rightOf } from "../acts.ts";
import type { WebParts } from "../parts.ts";
import { showAlerts } from "../read/alerts.ts";
import { forReader, referenceOf, type IncidentDetail, type ReadIncident } from "../read/incidents.ts";
import { renderIncidentReport } from "../report/incident-report.ts";
import { addRoute } from "../route.ts";
import { viewAlert, viewComment } from "./alert-routes.ts";
import { cursorSchema, flagSchema, instantSchema, limitUpTo, malformed, nameSchema, writeCursor } from "../input.ts";

const defaultIncidents = 50;
const mostIncidents = 200;

const listSchema = z.strictObject({
  state: z.enum(["open", "ended", "all"], "must be open, ended or all").default("open"),
  family: z.string().optional(),
  since: instantSchema.optional(),
  limit: limitUpTo(mostIncidents).optional(),
  cursor: cursorSchema(z.tuple([z.int().positive()])).optional(),
});

const path = "/api/v1/incidents/:id";

/** The route of each act, and its summary in the API's description. */
const acts: readonly (readonly [`${"POST" | "DELETE"} ${typeof path}/${string}`, IncidentAct["kind"], string])[] = [
  [`POST ${path}/ack`, "acknowledge", "Acknowledges all that fires in it"],
  [`DELETE ${path}/ack`, "unacknowledge", "Takes the acknowledgement back"],
  [`POST ${path}/judgement`, "judge", "Judges its alerts"],
  [`DELETE ${path}/judgement`, "withdraw", "Takes the judgement back"],
  [`POST ${path}/release`, "release", "Releases what its alerts hold"],
  [`POST ${path}/silence`, "silence", "Silences its organizations"],
  [`POST ${path}/comments`, "comment", "Comments on it"],
];

/** Adds `/api/v1/incidents…` (CONTRACT 15). */
export function addIncidentRoutes(server: FastifyInstance, { running, incidents, alertAssets }: WebParts): void {
  const { clock } = running;
  async function find(id: string): Promise<IncidentDetail> {
    const found = await incidents.find(id);
    if (found === null) throw noIncident();
    return found;
  }

  addRoute(server, "GET /api/v1/incidents", {
    access: "public",
    says: "Incidents, newest first",
    query: listSchema,
    answer: incidentListSchema,
    handle: async ({ query, withDetails }) => {
      const { state, family, since, limit = defaultIncidents, cursor } = query;
      const families = familiesOf(running.checkNames());
      if (family !== undefined && !families.includes(family))
        throw malformed([`family: must be one of ${families.join(", ")}`]);
      const page = await incidents.list({ state, limit, family, sinceMs: since, before: cursor?.[0] });
      return {
        incidents: page.incidents.map((one) => viewIncident(one, withDetails, clock.nowMs())),
        cursor: page.next === null ? undefined : writeCursor([page.next]),
      };
    },
  });
  addRoute(server, `GET ${path}`, {
    access: "public",
    says: "One incident, by number or id",
    answer: incidentDetailSchema,
    handle: async ({ params: { id }, withDetails }) => {
      const found = await find(id);
      const shown = await showAlerts(running, found.members);
      const incident = viewIncident(found, withDetails, clock.nowMs());
      return {
        ...incident,
        alerts: shown.map((one) => ({ ...viewAlert(one), endsAtMs: one.end?.atMs ?? null })),
        judgements: countJudgements(found),
        comments: found.comments.map(viewComment),
        secondOpinion: incident.secondOpinion && { ...incident.secondOpinion, answers: found.answers },
        cost: await alertAssets.costOf(found.members),
      };
    },
  });
  for (const [route, kind, says] of acts)
    addRoute(server, route, {
      access: rightOf(kind),
      says,
      query: z.strictObject({ dryRun: flagSchema.optional() }),
      body: askedActs[kind],
      answer: incidentActSchema,
      handle: async ({ request, params: { id }, query: { dryRun = false }, body }) => {
        const { act, slugs, by } = body(clock.nowMs());
        const asked = { incident: referenceOf(id), author: authorOf(request, by), slugs };
        return dryRun ? (await incidents.foresee(asked))(act) : incidents.act({ ...asked, act });
      },
    });
  addRoute(server, `POST ${path}/second-opinion`, {
    access: "operate",
    says: "Asks the verifier now",
    body: z.strictObject({ by: nameSchema.optional() }),
    answer: lookSchema,
    // A look takes a minute or more.
    status: 202,
    handle: async ({ request, params: { id }, body: { by } }) => {
      const { incident } = await find(id);
      const { number } = await incidents.look(incident, authorOf(request, by));
      return { look: number };
    },
  });
  addRoute(server, `GET ${path}/report`, {
    access: "public",
    says: "The incident as Markdown",
    answer: "text/markdown",
    handle: async ({ reply, params: { id }, withDetails }) => {
      const found = forReader(await find(id), withDetails);
      const text = renderIncidentReport(found, await alertAssets.costOf(found.members));
      return reply.type("text/markdown; charset=utf-8").send(text);
    },
  });
}

function viewIncident(read: ReadIncident, withDetails: boolean, nowMs: number): RowOf<typeof incidentSchema> {
  const { incident, summary, members } = read;
  const { verdict } = incident;
  const { secondOpinion } = summary;
  const spiking = new Set(
    members.flatMap(({ end, check, slug }) => (end === null && check === "dead-asset-spike" ? [slug] : [])),
  ).size;
  return {
    ...summary,
    headline: headline(forReader(read, withDetails).headline, nowMs),
    secondOpinion: secondOpinion && { ...secondOpinion, finding: opinionWords(secondOpinion) },
    fleet: verdict && { ...verdict, id: incident.id, spiking },
  };
}

function countJudgements({ members }: ReadIncident): Record<string, number> {
  const countOf = (verdict: string): number => members.filter(({ judgement }) => judgement?.verdict === verdict).length;
  return Object.fromEntries(judgementVerdicts.map((verdict) => [verdict, countOf(verdict)]));
}

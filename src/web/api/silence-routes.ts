import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { formatDuration } from "../../base/durations.ts";
import type { ByteBudget } from "../../base/request-body.ts";
import { FlatlineError } from "../../base/errors.ts";
import { literalOf } from "../../base/text-pattern.ts";
import type { Clock } from "../../base/time.ts";
import type { CheckName } from "../../contract/report.ts";
import { longestSlug } from "../../contract/slug.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { Silence } from "../../contract/v1/silences.ts";
import type { ListedSilence } from "../../contract/silence.ts";
import type { NewSilence, SilenceChange } from "../../store/alerts/silences.ts";
import { authorOf } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { CheckReading } from "../read/checks.ts";
import type { SilenceBook } from "../../alerting/silence-book.ts";
import { addResource, takeJsonBodies } from "../resource.ts";
import { silenceSchema } from "../../contract/v1/silences.ts";
import { nameSchema, readInput, reasonSchema } from "./read-input.ts";

// The pattern of one organization is its slug with each star and backslash escaped.
const longestPattern = 2 * longestSlug;

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const newSilenceSchema = z.strictObject({
  slug: z.string().min(1).max(longestPattern),
  check: z.string().min(1).max(longestPattern).optional(),
  startsAt: instant.optional(),
  endsAt: instant,
  comment: reasonSchema,
  createdBy: nameSchema.optional(),
});

const changeSchema = z
  .strictObject({ endsAt: instant.optional(), comment: reasonSchema.optional() })
  .refine(
    ({ endsAt, comment }) => endsAt !== undefined || comment !== undefined,
    "changes nothing: give endsAt or comment",
  );

export interface SilenceRoutesOptions {
  readonly silences: SilenceBook;
  readonly checks: Pick<CheckReading, "names">;
  readonly clock: Clock;
  readonly bodies: ByteBudget;
}

/** `/api/v1/silences` (CONTRACT 7 and 8). */
export function addSilenceRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { silences, checks, clock, bodies }: SilenceRoutesOptions,
): void {
  takeJsonBodies(scope, bodies);
  addResource(scope, "/api/v1/silences", settings, {
    GET: {
      access: "read",
      about: { says: "Silences that have not ended", answer: z.array(silenceSchema) },
      handle: async () => (await silences.list()).map(viewSilence),
    },
    POST: {
      access: "operate",
      about: { says: "Silences", body: newSilenceSchema, answer: silenceSchema, status: 201 },
      handle: async (request, reply) => {
        const nowMs = clock.nowMs();
        const { silence, note } = readSilence(request.body, nowMs, checks.names());
        const created = await silences.add(silence, authorOf(request, note));
        return reply.code(201).send(viewSilence(created));
      },
    },
  });
  addResource(scope, "/api/v1/silences/:id", settings, {
    PATCH: {
      access: "operate",
      about: { says: "Gives a silence another end or comment", body: changeSchema, answer: silenceSchema },
      handle: async (request) => {
        const { id } = request.params as { readonly id: string };
        // As the list shows those of the configuration.
        if (id === "null") throw new FlatlineError("conflict", "it is of the configuration: change it in its file");
        const change = readChange(request.body);
        return viewSilence(await silences.change(id, change, authorOf(request)));
      },
    },
    DELETE: {
      access: "operate",
      about: { says: "Ends a silence" },
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        if (!(await silences.expire(id, authorOf(request)))) {
          throw new FlatlineError("not_found", "no such silence, or it has ended already");
        }
        return reply.code(204).send();
      },
    },
  });
}

function readChange(body: unknown): SilenceChange {
  const { endsAt, comment } = readInput(changeSchema, body, "not a change of a silence");
  return { ...(endsAt === undefined ? {} : { endsAtMs: endsAt }), ...(comment === undefined ? {} : { comment }) };
}

function readSilence(
  body: unknown,
  nowMs: number,
  known: readonly CheckName[],
): { readonly silence: NewSilence; readonly note: string | undefined } {
  const problem = "not a silence";
  const refuse = (issues: readonly string[]): FlatlineError => new FlatlineError("invalid_data", problem, { issues });
  const wanted = readInput(newSilenceSchema, body, problem);
  const { slug, check = null, startsAt = nowMs, endsAt, comment, createdBy: note } = wanted;
  // A pattern may be meant for checks to come.
  if (check !== null && literalOf(check) !== null && !known.includes(check)) throw refuse(["check: no such check"]);
  if (endsAt <= startsAt) throw refuse(["endsAt: is not after startsAt"]);
  if (endsAt <= nowMs) throw refuse(["endsAt: has passed"]);
  // Nothing was held back before it was made: the list and the charts would say that it was. As in Alertmanager.
  const startsAtMs = Math.max(startsAt, nowMs);
  return { silence: { slug, check, startsAtMs, endsAtMs: endsAt, comment }, note };
}

/** Times are ISO 8601; a recurring one has a schedule in place of its start and end. */
function viewSilence({ rule, state, createdAtMs, nextChangeAtMs, ...silence }: ListedSilence): Silence {
  const { id, origin, createdBy, note } = silence;
  const { slug = null, check = null, labels = {}, comment } = rule;
  const isFixed = rule.kind === "fixed";
  return {
    id,
    origin,
    state,
    slug,
    check,
    labels,
    startsAt: isFixed ? iso(rule.startsAtMs) : null,
    endsAt: isFixed ? iso(rule.endsAtMs) : null,
    ...(isFixed ? {} : { schedule: rule.schedule, duration: formatDuration(rule.durationMs), timezone: rule.timezone }),
    comment,
    createdBy,
    note,
    createdAt: iso(createdAtMs),
    isActive: state === "active",
    nextChangeAt: iso(nextChangeAtMs),
  };
}

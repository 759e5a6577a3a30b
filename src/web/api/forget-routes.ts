import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { latestInstantMs } from "../../base/instant.ts";
import { suggest } from "../../base/suggestions.ts";
import type { Actor } from "../../contract/actor.ts";
import { forgottenSchema, type ForgottenKind, type ForgottenRows } from "../../contract/v1/operator.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { Store } from "../../store/store.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import type { Running } from "../read/running.ts";
import { addRoute } from "../route.ts";
import { flagSchema, instantSchema } from "../input.ts";

const bodySchema = z
  .strictObject({
    events: z.boolean().default(false),
    from: instantSchema.optional(),
    to: instantSchema.optional(),
  })
  .prefault({})
  .refine(({ events, from, to }) => events || (from === undefined && to === undefined), "from and to go with events");

/** Adds `POST /api/v1/organizations/{slug}/forget` (CONTRACT 12). */
export function addForgetRoutes(server: FastifyInstance, { running }: WebParts): void {
  addRoute(server, "POST /api/v1/organizations/:slug/forget", {
    access: "admin",
    says: "Removes what is stored of an organization",
    query: z.strictObject({ dryRun: flagSchema.default(false) }),
    body: bodySchema,
    answer: forgottenSchema,
    handle: async ({ request, params: { slug }, query: { dryRun }, body }) => {
      const { events: onlyEvents } = body;
      if (!onlyEvents) await refuseConfigured(slug, running);
      const { store } = running;
      const isKnown =
        (await store.events.slugs()).includes(slug) || (!onlyEvents && (await store.forgetting.isStored(slug)));
      if (!isKnown) throw await unknownSlug(store, slug);
      return dryRun ? nothing : forget(running, { ...body, slug, author: authorOf(request) });
    },
  });
}

const nothing: ForgottenRows = { events: 0, history: 0, alerts: 0, silences: 0, markers: 0, keys: 0, records: 0 };
const kinds = Object.keys(nothing) as ForgottenKind[];

async function refuseConfigured(slug: string, { store, config }: Running): Promise<void> {
  const { organizations, discover, file } = config();
  const shown = JSON.stringify(slug);
  if (organizations.some((organization) => organization.slug === slug))
    throw new FlatlineError("usage", `${shown} is configured: take it out of ${file} and reload first`);
  for (const { name } of discover)
    if ((await store.discovery.list(name)) === null)
      throw new FlatlineError(
        "unavailable",
        `it is unknown whether ${shown} is configured, because the discovery source ${name} was never read: ` +
          "nothing was removed",
      );
}

async function unknownSlug({ events, platform }: Store, slug: string): Promise<FlatlineError> {
  const known = [...(await events.slugs()), ...(await platform.organizations.slugs())];
  return new FlatlineError("usage", `nothing is stored of ${JSON.stringify(slug)}${suggest(slug, known)}`);
}

// A slice takes a few milliseconds; the pause lets other work run.
const rowsPerSlice = 1_000;
const pauseMs = 5;

interface Asked extends z.infer<typeof bodySchema> {
  readonly slug: string;
  readonly author: Actor;
}

/** Removes one slice at a time; after an interruption, the next request continues. */
async function forget(
  { store, clock, onAct }: Running,
  { slug, events: onlyEvents, from, to, author }: Asked,
): Promise<ForgottenRows> {
  const removed = { ...nothing };
  const span = from === undefined && to === undefined ? null : { fromMs: from ?? 0, toMs: to ?? latestInstantMs };
  const inSlices = async (removeSome: () => Promise<{ readonly hasMore: boolean }>): Promise<void> => {
    while ((await removeSome()).hasMore) await clock.sleep(pauseMs);
  };
  await inSlices(async () => {
    const slice = await (span === null
      ? store.events.forget(slug, rowsPerSlice)
      : store.events.forgetSpan(slug, span, rowsPerSlice));
    removed.events += slice.removed;
    return slice;
  });
  await inSlices(() =>
    store.transaction(async ({ forgetting, audit }) => {
      const slice = onlyEvents ? { removed: nothing, hasMore: false } : await forgetting.forget(slug, rowsPerSlice);
      for (const kind of kinds) removed[kind] += slice.removed[kind];
      const times = span === null ? {} : { from: iso(span.fromMs), to: iso(span.toMs) };
      const detail = onlyEvents ? { events: removed.events, ...times } : removed;
      const act = { actor: author, action: "forget", slug, subject: null, detail } as const;
      if (!slice.hasMore) await audit.append({ atMs: clock.nowMs(), ...act });
      return slice;
    }),
  );
  onAct();
  return removed;
}

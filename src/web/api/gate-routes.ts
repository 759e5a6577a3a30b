import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { releaseGate } from "../../alerting/acts/alert-acts.ts";
import {
  decideGate,
  heldGates,
  isGateAlert,
  type GateDecision,
  type GatePolicy,
  type GateReason,
} from "../../alerting/decide/gate.ts";
import { noteGateAsked } from "../../alerting/gate-use.ts";
import { FlatlineError } from "../../base/errors.ts";
import { hourMs } from "../../base/time.ts";
import type { Actor } from "../../contract/actor.ts";
import { gateListSchema, gateSchema } from "../../contract/v1/alerts.ts";
import { iso } from "../../contract/v1/instant.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import { isStale, type Running } from "../read/running.ts";
import { addRoute } from "../route.ts";
import { nameSchema, reasonSchema } from "../input.ts";

const shownReleases = 10;
// Pipelines ask for each takedown, and requests are remembered for a month: one note an hour is enough.
const notedEachMs = hourMs;

/** Adds `/api/v1/gate…`: the gates on hold, and one organization's decision, which is 200 for every known slug. */
export function addGateRoutes(server: FastifyInstance, { running }: WebParts): void {
  const { store, clock, logger } = running;
  const gates = createGates(running);
  let notedAtMs = -Infinity;

  /** Stores the time of a pipeline's request; after an error, the next request tries again. */
  async function noteAsked(): Promise<void> {
    const nowMs = clock.nowMs();
    if (Math.abs(nowMs - notedAtMs) < notedEachMs) return;
    notedAtMs = nowMs;
    try {
      await noteGateAsked(store, nowMs);
      running.onAct();
    } catch (error) {
      notedAtMs = -Infinity;
      logger.debug({ err: error }, "it could not be noted that a gate was asked for");
    }
  }

  addRoute(server, "GET /api/v1/gate", {
    access: "public",
    says: "The gates that hold",
    answer: gateListSchema,
    handle: async () => {
      const all = await gates.all();
      void noteAsked();
      return all;
    },
  });
  addRoute(server, "GET /api/v1/gate/:slug", {
    access: "public",
    says: "May a pipeline act on the deaths of an organization",
    answer: gateSchema,
    handle: async ({ params: { slug } }) => {
      const gate = await gates.look(slug);
      void noteAsked();
      return gate;
    },
  });
  addRoute(server, "POST /api/v1/gate/:slug/release", {
    access: "gate",
    says: "Lets deaths be acted on again",
    body: z.strictObject({ by: nameSchema.optional(), comment: reasonSchema }),
    answer: gateSchema,
    handle: ({ request, params: { slug }, body: { by, comment } }) =>
      gates.release(slug, authorOf(request, by), comment),
  });
}

/** Returns the gates. Each decision reads the store and is never cached. */
export function createGates(running: Running) {
  const { store, checks, clock, logger, settings } = running;

  async function view(slug: string) {
    const organization = running.config().organizations.find((one) => one.slug === slug);
    const policy = settings().gateOf(slug);
    const failures = await store.gate.failures(slug);
    const checkers = (await store.alerts.judged({ verdict: "checker", slug })).filter(isGateAlert);
    const { windowHours } = organization?.thresholds ?? defaultThresholds;
    const asked = { failures, checkers, isKnown: isKnown(slug), nowMs: clock.nowMs(), windowHours };
    const decided = decideGate(asked, policy);
    const isHeldByFailure = decided.decision === "hold" && decided.failure !== null;
    return {
      slug,
      ...decided,
      check: decided.failure?.check ?? null,
      alertId: decided.failure?.id ?? null,
      /** The organization is configured, or a failure still holds its gate. */
      isFound: organization !== undefined || isHeldByFailure,
      message: wordDecision(slug, decided, policy),
      /** The latest ones, newest first. */
      releases: await store.log.releases(slug, shownReleases),
    };
  }

  /** Returns whether the spike check's last run gave a result that is not stale. */
  function isKnown(slug: string): boolean {
    const state = checks.of("dead-asset-spike", slug);
    return state?.last?.lastReport.kind === "result" && !isStale(state, clock.nowMs());
  }

  async function read<Result>(work: () => Promise<Result>): Promise<Result> {
    const problem = running.storeProblem();
    if (problem !== null) throw new FlatlineError("unavailable", `the gate is not known: ${problem}`);
    try {
      return await work();
    } catch (error) {
      const message = error instanceof FlatlineError ? error.message : "an unexpected error, see the log";
      if (!(error instanceof FlatlineError)) logger.error({ err: error }, "gate could not be read");
      throw new FlatlineError("unavailable", `the gate is not known, the store cannot be read: ${message}`, {
        cause: error,
      });
    }
  }

  async function look(slug: string) {
    const found = await read(() => view(slug));
    if (!found.isFound) throw new FlatlineError("not_found", "no such organization");
    return found;
  }

  return {
    /** @throws FlatlineError not_found, unavailable when the store cannot be read */
    look,
    /** Returns every gate on hold, by reason, and the number of open ones. @throws FlatlineError unavailable */
    all: () =>
      read(async () => {
        const { organizations } = running.config();
        const rules = settings();
        const failures = await store.gate.unreleased(await store.alerts.allLive());
        const failing = heldGates(failures, (slug) => rules.gateOf(slug));
        const unknown = organizations.filter(
          ({ slug }) => !failing.has(slug) && rules.gateOf(slug).whenUnknown === "hold" && !isKnown(slug),
        );
        const views = await Promise.all([...failing.keys(), ...unknown.map(({ slug }) => slug)].map(view));
        // Somebody may release a gate between the two reads.
        const gates = views.filter(({ decision }) => decision === "hold").toSorted(compareHeld);
        const slugs = new Set(gates.map(({ slug }) => slug));
        return { gates, open: organizations.filter(({ slug }) => !slugs.has(slug)).length };
      }),
    /** Releases the gate by hand. @throws FlatlineError as `look` */
    release: async (slug: string, author: Actor, comment: string) => {
      await look(slug);
      const context = { settings: settings(), nowMs: clock.nowMs(), newId: running.newId };
      await releaseGate(store, context, { slug, author, comment });
      logger.warn({ slug, by: author.name, note: author.note, comment }, "gate released by hand");
      running.onAct();
      return view(slug);
    },
  };
}

const holdOrder: readonly GateReason[] = ["fail_firing", "fail_latched", "unknown"];

type Held = GateDecision & { readonly slug: string };

/** Orders gates by reason, then the longest on hold first. */
function compareHeld(left: Held, right: Held): number {
  return (
    holdOrder.indexOf(left.reason) - holdOrder.indexOf(right.reason) ||
    (left.sinceMs ?? 0) - (right.sinceMs ?? 0) ||
    (left.slug < right.slug ? -1 : 1)
  );
}

function wordDecision(slug: string, decided: GateDecision, { releaseOn }: GatePolicy): string {
  const { decision, reason, failure, holding } = decided;
  const { check, end, judgement, failure: failed } = failure ?? {};
  const since = `${end === null ? "has fired as fail since" : "fired as fail at"} ${iso(failed?.atMs ?? null)}`;
  const isJudged = judgement?.verdict === "checker";
  const ways = [...releaseOn.map((one) => (one === "judged" && isJudged ? "over" : one)), "released"].join(" or ");
  const words: Readonly<Record<GateReason, string>> = {
    no_failure: `no failure of ${slug} is open`,
    fail_firing:
      `${check} of ${slug} ${since}${isJudged ? ", judged checker" : ""}: ` +
      `act on none of its deaths until it is ${ways}`,
    fail_latched: `${check} of ${slug} fired as fail at ${iso(failed?.atMs ?? null)}, and it has not been released`,
    released: `${check} of ${slug} ${since}, and is released`,
    unknown: `nothing is known of ${slug} at the moment; gate.whenUnknown says ${decision}`,
  };
  const others = holding
    .filter((one) => one !== failure)
    .map((one) => {
      const of = one.incident === undefined ? "" : ` of incident ${one.incident.number}`;
      return `; ${one.check}${of} holds it, too, since ${iso(one.failure.atMs)}`;
    });
  return `${words[reason]}${others.join("")}`;
}

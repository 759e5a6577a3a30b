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
import { iso } from "../../contract/v1/instant.ts";
import type { Actor } from "../../contract/actor.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import { isStale, type Running } from "./running.ts";

/** Whether a pipeline may act on an organization's deaths, and why. */
export type GateView = NonNullable<Awaited<ReturnType<GateReading["look"]>>>;

const shownReleases = 10;
// A pipeline asks for each takedown; to the hour is enough of the month for which it is remembered.
const notedEachMs = hourMs;

/** The gates as API and page show them. */
export type GateReading = ReturnType<typeof createGateReading>;

/** Returns the gates over what runs: decided at each question from what the store has, never from memory. */
export function createGateReading(
  running: Pick<
    Running,
    "store" | "clock" | "logger" | "checks" | "config" | "settings" | "storeProblem" | "onAct" | "newId"
  >,
) {
  const { store, checks, clock, logger, settings } = running;
  let notedAtMs = -Infinity;

  async function view(slug: string) {
    const organization = running.config().organizations.find((one) => one.slug === slug);
    const policy = settings().gateOf(slug);
    const failures = await store.gate.failures(slug);
    const checkers = (await store.alerts.judged({ verdict: "checker", slug })).filter(isGateAlert);
    const { windowHours } = organization?.thresholds ?? defaultThresholds;
    const asked = { failures, checkers, isKnown: isKnown(slug), nowMs: clock.nowMs(), windowHours };
    const decided = decideGate(asked, policy);
    return {
      slug,
      ...decided,
      isConfigured: organization !== undefined,
      /** The reason in words. */
      message: wordDecision(slug, decided, policy),
      /** The latest ones, newest first. */
      releases: await store.log.releases(slug, shownReleases),
    };
  }

  /** Whether the spike check's last run gave a result that still holds. */
  function isKnown(slug: string): boolean {
    const state = checks.of("dead-asset-spike", slug);
    return state?.last?.lastReport.kind === "result" && !isStale(state, clock.nowMs());
  }

  async function find(slug: string) {
    const found = await view(slug);
    const isHeldByFailure = found.decision === "hold" && found.failure !== null;
    return found.isConfigured || isHeldByFailure ? found : null;
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

  return {
    /**
     * null: no such organization is configured, and none that was once is on hold. @throws FlatlineError unavailable when the
     * store cannot be read
     */
    look: (slug: string) => read(() => find(slug)),
    /**
     * Every gate that holds, by a failure or because nothing is known, worst first, and how many others are open.
     * @throws FlatlineError as in `look`
     */
    all: () =>
      read(async () => {
        const { organizations } = running.config();
        const policies = settings();
        const failing = heldGates(await store.gate.unreleased(await store.alerts.allLive()), (slug) =>
          policies.gateOf(slug),
        );
        const holdsUnknown = ({ slug }: { readonly slug: string }): boolean =>
          policies.gateOf(slug).whenUnknown === "hold" && !isKnown(slug);
        const unknown = organizations.filter((one) => !failing.has(one.slug) && holdsUnknown(one));
        const views = await Promise.all([...failing.keys(), ...unknown.map(({ slug }) => slug)].map(view));
        // Between the two reads a release may have opened one.
        const held = views.filter(({ decision }) => decision === "hold").toSorted(compareHeld);
        const slugs = new Set(held.map(({ slug }) => slug));
        return { held, open: organizations.filter(({ slug }) => !slugs.has(slug)).length };
      }),
    /** Notes that a gate was asked for; a store that takes nothing now is asked again with the next. */
    noteAsked: async (): Promise<void> => {
      const nowMs = clock.nowMs();
      if (Math.abs(nowMs - notedAtMs) < notedEachMs) return;
      notedAtMs = nowMs;
      try {
        await noteGateAsked(store, nowMs);
      } catch (error) {
        notedAtMs = -Infinity;
        logger.debug({ err: error }, "it could not be noted that a gate was asked for");
      }
    },
    /** Lets deaths be acted on again by hand, and records it. null: as in `look`. */
    release: async (slug: string, author: Actor, comment: string) => {
      if ((await read(() => find(slug))) === null) return null;
      const context = { settings: settings(), nowMs: clock.nowMs(), newId: running.newId };
      await releaseGate(store, context, { slug, author, comment });
      const { name: by, note } = author;
      logger.warn({ slug, by, note, comment }, "gate released by hand");
      running.onAct();
      return view(slug);
    },
  };
}

const holdOrder: readonly GateReason[] = ["fail_firing", "fail_latched", "unknown"];

type Held = GateDecision & { readonly slug: string };

/** Orders the firing ones first, then the latched, then the unknown; the longest first. */
function compareHeld(left: Held, right: Held): number {
  return (
    holdOrder.indexOf(left.reason) - holdOrder.indexOf(right.reason) ||
    (left.sinceMs ?? 0) - (right.sinceMs ?? 0) ||
    (left.slug < right.slug ? -1 : 1)
  );
}

function wordDecision(slug: string, { decision, reason, failure }: GateDecision, { releaseOn }: GatePolicy): string {
  const { check, end, judgement, failure: failed } = failure ?? {};
  const since = `${end === null ? "has fired as fail since" : "fired as fail at"} ${iso(failed?.atMs ?? null)}`;
  const isJudged = judgement?.verdict === "checker";
  const ways = [...releaseOn.map((one) => (one === "judged" && isJudged ? "over" : one)), "released"].join(" or ");
  const words: Readonly<Record<GateReason, string>> = {
    no_failure: `no failure of ${slug} is open`,
    fail_firing: `${check} of ${slug} ${since}${isJudged ? ", judged checker" : ""}: act on none of its deaths until it is ${ways}`,
    fail_latched: `${check} of ${slug} fired as fail at ${iso(failed?.atMs ?? null)}, and it has not been released`,
    released: `${check} of ${slug} ${since}, and is released`,
    unknown: `nothing is known of ${slug} at the moment; gate.whenUnknown says ${decision}`,
  };
  return words[reason];
}

import { actOnIncident, readActFacts } from "../../alerting/acts/incident-acts.ts";
import {
  planAct,
  type IncidentAct,
  type IncidentActRequest,
  type IncidentActResult,
} from "../../alerting/acts/plan-act.ts";
import { isGateUsed } from "../../alerting/gate-use.ts";
import { headlineFacts } from "../../alerting/headline-facts.ts";
import { summarizeIncident, type IncidentMember } from "../../alerting/incident-summary.ts";
import { alertViewer, type AlertView } from "../../alerting/view.ts";
import { dayMs } from "../../base/time.ts";
import type { Actor } from "../../contract/actor.ts";
import type { Incident, IncidentQuery } from "../../store/alerts/incidents.ts";
import type { Look } from "../../store/alerts/looks.ts";
import { ofSnapshot } from "./fleet.ts";
import type { Running } from "./running.ts";

/** An incident, or one organization's part of it, with the facts of its headline and its questions. */
export type ReadIncident = Awaited<ReturnType<IncidentReading["ofNumbers"]>>[number];

/** An incident with everything on its page. */
export type IncidentDetail = NonNullable<Awaited<ReturnType<IncidentReading["find"]>>>;

/** Returns what a reader may see (CONTRACT 13); without details: no names, comments, receivers or assets. */
export function forReader<Read extends ReadIncident & Partial<IncidentDetail>>(read: Read, withDetails: boolean): Read {
  if (withDetails) return read;
  const { members, summary, headline, escalation, notified = [], waiting = [], markers = [] } = read;
  const unnamed = { by: "", note: null, comment: null };
  const receiver = "a receiver";
  return {
    ...read,
    members: members.map(({ acknowledgement, judgement, ...member }) => ({
      ...member,
      acknowledgement: acknowledgement && { ...acknowledgement, ...unnamed },
      ...(judgement && { judgement: { ...judgement, ...unnamed } }),
    })),
    summary: { ...summary, acknowledgedBy: summary.acknowledgedBy && "somebody" },
    headline: { ...headline, judges: [], judgement: headline.judgement && { ...headline.judgement, ...unnamed } },
    escalation: escalation && { ...escalation, receiver },
    notified: notified.slice(0, 1).map((one) => ({ ...one, receiver })),
    waiting: waiting.map((one) => ({ ...one, receiver, lastError: one.lastError && "" })),
    markers: markers.map((one) => ({ ...one, createdBy: null, note: null })),
    comments: [],
    answers: [],
  };
}

// There are fewer receivers; the page shows one notification of each.
const mostWaiting = 100;

/** The incidents as API and page show them (CONTRACT 15). */
export type IncidentReading = ReturnType<typeof createIncidentReading>;

export function createIncidentReading(running: Running) {
  const { store, clock, settings } = running;

  const openOf = ofSnapshot(() => new Map<number, Awaited<ReturnType<typeof readMembers>>[number]>());

  /** Reads whole incidents; open ones once for each snapshot. */
  async function readAll(incidents: readonly Incident[]) {
    const known = openOf(running, await running.fleet());
    const read = await readMembers(incidents.filter(({ number }) => !known.has(number)));
    const others = new Map(read.map((one) => [one.incident.number, one]));
    for (const [number, one] of others) if (one.incident.endedAtMs === null) known.set(number, one);
    return incidents.flatMap(({ number }) => known.get(number) ?? others.get(number) ?? []);
  }

  async function readMembers(incidents: readonly Incident[], slug?: string) {
    const numbers = incidents.map(({ number }) => number);
    const { alerts, failures } = await running.fleet();
    const kept = await store.incidents.members(numbers, alerts);
    const nowMs = clock.nowMs();
    const { externalUrl } = settings();
    const view = await alertViewer(store, settings(), nowMs);
    const isUsed = await isGateUsed(store, settings(), nowMs);
    const found = [];
    for (const incident of incidents) {
      /** The first to begin comes first. */
      const members: readonly AlertView[] = (kept.get(incident.number) ?? [])
        .filter((alert) => slug === undefined || alert.slug === slug)
        .map((alert) => ("holdsGate" in alert ? alert : view(alert)));
      if (members.length === 0) continue;
      const summary = summarizeIncident(incident, members, { externalUrl });
      const read = { incident, members, summary };
      found.push({
        ...read,
        nowMs,
        headline: headlineFacts(read, { settings: settings(), nowMs, isGateUsed: isUsed, failures }),
        /** Since when takedowns are on hold, by slug. */
        heldSince: heldSinceOf(members),
        /** Whether a verifier is configured. */
        canLook: running.canLook(),
        /** Only the detail reads it; false elsewhere. */
        isLooking: false as boolean,
        /** The receiver that is called next, unless somebody acknowledges or judges; null: none. */
        escalation: nextEscalation(members, nowMs),
      });
    }
    return found;
  }

  /** Returns the next receiver of an alert that nobody has acknowledged or judged. */
  function nextEscalation(members: readonly AlertView[], nowMs: number) {
    let next: { readonly receiver: string; readonly atMs: number } | null = null;
    for (const alert of members) {
      const { firingAtMs, acknowledgement, judgement, target } = alert;
      if (alert.end !== null || firingAtMs === null || acknowledgement !== null || judgement !== undefined) continue;
      for (const { name, afterMs } of target?.receivers ?? []) {
        const atMs = firingAtMs + afterMs;
        if (afterMs > 0 && atMs > nowMs && atMs < (next?.atMs ?? Infinity)) next = { receiver: name, atMs };
      }
    }
    return next;
  }

  async function readDetail(found: Awaited<ReturnType<typeof readAll>>[number]) {
    const { incident, members, nowMs, headline } = found;
    const { number, secondOpinion, endedAtMs } = incident;
    const [ids, slugs] = [new Set(members.map((alert) => alert.id)), new Set(members.map((alert) => alert.slug))];
    const looks = await store.looks.of(number);
    const waiting = await store.outbox.ofIncident(number, mostWaiting);
    const [only] = slugs.size === 1 ? slugs : [];
    const time = { fromMs: headline.beganAtMs - dayMs, toMs: endedAtMs ?? nowMs };
    const markers = await store.markers.between({ ...time, slug: only });
    return {
      ...found,
      isLooking: looks.some((look) => look.endedAtMs === null),
      answers:
        secondOpinion === null
          ? []
          : await store.looks.answersOf({ incidentNumber: number, number: secondOpinion.look }),
      /** Oldest first, also those of acts on alerts that were forgotten. */
      comments: (await store.log.commentsOfIncident(number)).filter(
        ({ alertIds }) => alertIds?.some((id) => ids.has(id)) ?? true,
      ),
      /** The first accepted message of each receiver, oldest first. */
      notified: await store.deliveries.firstByReceiver([...ids]),
      /** Waiting notifications, one for each receiver. */
      waiting: [...new Map(waiting.map((entry) => [entry.receiver, entry])).values()],
      /** Deployments since the day before it began, oldest first. */
      markers: markers.filter(({ slug }) => slug === null || slugs.has(slug)),
    };
  }

  return {
    /** Newest first; the next page begins before the number `next`; null: the last page. */
    list: async ({ limit, ...query }: IncidentQuery) => {
      const found = await store.incidents.list({ ...query, limit: limit + 1 });
      const page = found.slice(0, limit);
      const next = found.length > limit ? (page.at(-1)?.number ?? null) : null;
      return { incidents: await readAll(page), next };
    },
    /** Takes a number or an id; null: unknown. */
    find: async (reference: string) => {
      const incident = await store.incidents.find(referenceOf(reference));
      const [found] = incident === null ? [] : await readAll([incident]);
      return found === undefined ? null : readDetail(found);
    },
    /** Newest first. */
    ofNumbers: async (numbers: Iterable<number>) => {
      const found = await store.incidents.byNumbers([...numbers]);
      const newestFirst = found.toSorted((left, right) => right.number - left.number);
      return readAll(newestFirst);
    },
    /** One organization's part of an incident; null: none. */
    partOf: async (incident: Incident, slug: string) => (await readMembers([incident], slug))[0] ?? null,
    /** Starts a look, and writes the audit log. @throws FlatlineError usage, too_many */
    look: async (incident: Incident, author: Actor): Promise<Look> => {
      const look = await running.look(incident);
      const detail = { look: look.number };
      const act = { action: "look", slug: null, subject: incident.id, detail } as const;
      await store.audit.append({ atMs: clock.nowMs(), actor: author, ...act });
      running.onAct();
      return look;
    },
    /** @throws FlatlineError as actOnIncident */
    act: async (request: IncidentActRequest): Promise<IncidentActResult> => {
      const context = { settings: settings(), nowMs: clock.nowMs(), newId: running.newId };
      const done = await store.transaction((parts) => actOnIncident(parts, context, request));
      const { act } = request;
      if (act.kind === "judge") for (const alert of done.changed) running.onJudged(alert.check, act.verdict);
      running.onAct();
      return done;
    },
    /** Returns what acts would do; changes nothing. @throws FlatlineError as actOnIncident */
    foresee: async (request: Omit<IncidentActRequest, "act">): Promise<(act: IncidentAct) => IncidentActResult> => {
      const facts = await readActFacts(store, { settings: settings(), nowMs: clock.nowMs() }, request);
      return (act) => planAct({ ...request, act }, facts);
    },
  };
}

function heldSinceOf(members: readonly IncidentMember[]) {
  const held = new Map<string, number>();
  for (const alert of members)
    if (alert.holdsGate && alert.failure !== undefined)
      held.set(alert.slug, Math.min(alert.failure.atMs, held.get(alert.slug) ?? Infinity));
  return held;
}

/** Returns a number of at most nine digits, otherwise an id. */
export function referenceOf(reference: string): number | string {
  return /^[1-9]\d{0,8}$/.test(reference) ? Number(reference) : reference;
}

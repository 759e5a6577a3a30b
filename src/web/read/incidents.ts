import { actOnIncident, foreseeAct } from "../../alerting/acts/incident-acts.ts";
import type { IncidentActRequest, IncidentActResult } from "../../alerting/acts/plan-act.ts";
import { isGateUsed } from "../../alerting/gate-use.ts";
import { headlineFacts, type HeadlineFacts } from "../../alerting/headline-facts.ts";
import { memberViewer } from "../../alerting/incident-members.ts";
import { summarizeIncident, type IncidentMember, type IncidentSummary } from "../../alerting/incident-summary.ts";
import type { Actor } from "../../contract/actor.ts";
import { showsDeath, showsLife } from "../../contract/second-opinion.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/log.ts";
import type { Incident, IncidentQuery } from "../../store/alerts/incidents.ts";
import type { Look, LookedAt } from "../../store/alerts/looks.ts";
import type { Running } from "./running.ts";

/** An incident, or the part of it that is of one organization. */
export interface ReadIncident {
  readonly incident: Incident;
  readonly summary: IncidentSummary;
  readonly headline: HeadlineFacts;
  /** In the order in which they began. */
  readonly members: readonly IncidentMember[];
}

/** What the verifier says of an incident, asset by asset. */
export interface ReadLook {
  /** The answers of the last opinion. */
  readonly answers: readonly LookedAt[];
  /** Whether the verifier is being asked. */
  readonly isRunning: boolean;
}

/** An incident with what people said of it. */
export interface ReadIncidentDetail extends ReadIncident {
  readonly look: ReadLook;
  /** The comments on the incident, and on its alerts; oldest first. */
  readonly comments: readonly AlertComment[];
}

/** Incidents as API and page show them (CONTRACT 15). */
export interface IncidentReading {
  /**
   * Newest first; `next` is the number before which the next page begins, null at the end. `live` are all live alerts, where they
   * are read already [they are read].
   */
  list(
    query: IncidentQuery,
    live?: readonly AlertState[],
  ): Promise<{ readonly incidents: readonly ReadIncident[]; readonly next: number | null }>;
  /** By number or id; null: unknown. */
  find(reference: string): Promise<ReadIncidentDetail | null>;
  /** Those of these numbers, newest first. */
  ofNumbers(numbers: readonly number[], live?: readonly AlertState[]): Promise<readonly ReadIncident[]>;
  /** The part of an incident that is of one organization; null: it has none. */
  partOf(incident: Incident, slug: string, live: readonly AlertState[]): Promise<ReadIncident | null>;
  /** Begins a look at the incident as an act of `author`. @throws FlatlineError usage, too_many */
  look(incident: Incident, author: Actor): Promise<Look>;
  /** @throws FlatlineError as actOnIncident */
  act(request: IncidentActRequest): Promise<IncidentActResult>;
  /** What the act would do; changes nothing. @throws FlatlineError as actOnIncident */
  foresee(request: IncidentActRequest): Promise<IncidentActResult>;
}

/** Returns the readings over what runs. */
export function createIncidentReading(running: Running): IncidentReading {
  const { store, clock, settings } = running;

  async function readAll(
    incidents: readonly Incident[],
    live?: readonly AlertState[],
    slug?: string,
  ): Promise<ReadIncident[]> {
    const numbers = incidents.map(({ number }) => number);
    const kept = await store.incidents.members(numbers, live ?? (await store.alerts.allLive()));
    const nowMs = clock.nowMs();
    const { externalUrl } = settings();
    const view = await memberViewer(store, settings(), nowMs);
    const isUsed = await isGateUsed(store, settings(), nowMs);
    const found: ReadIncident[] = [];
    for (const one of incidents) {
      const members = (kept.get(one.number) ?? [])
        .filter(({ alert }) => slug === undefined || alert.slug === slug)
        .map(view);
      if (members.length === 0) continue;
      const incident = slug === undefined ? one : await opinionOf(one, slug);
      const summary = summarizeIncident(incident, members, { externalUrl });
      const read = { incident, members, summary };
      const headline = headlineFacts(read, { settings: settings(), nowMs, isGateUsed: isUsed });
      found.push({ ...read, headline });
    }
    return found;
  }

  /** The counts of a part are of that part. */
  async function opinionOf(incident: Incident, slug: string): Promise<Incident> {
    const { secondOpinion, number } = incident;
    if (secondOpinion === null) return incident;
    const all = await store.looks.answersOf({ incidentNumber: number, number: secondOpinion.look });
    const counted = all.filter((one) => one.role === "sample" && one.slug === slug);
    const alive = counted.filter(({ answer }) => showsLife(answer)).length;
    const gone = counted.filter(({ answer }) => showsDeath(answer)).length;
    return { ...incident, secondOpinion: { ...secondOpinion, asked: counted.length, alive, gone } };
  }

  async function readLook({ number: incidentNumber, secondOpinion }: Incident): Promise<ReadLook> {
    const looks = await store.looks.of(incidentNumber);
    const isRunning = looks.some(({ endedAtMs }) => endedAtMs === null);
    if (secondOpinion === null) return { answers: [], isRunning };
    return { answers: await store.looks.answersOf({ incidentNumber, number: secondOpinion.look }), isRunning };
  }

  return {
    list: async ({ limit, ...query }, live) => {
      const found = await store.incidents.list({ ...query, limit: limit + 1 });
      const page = found.slice(0, limit);
      const next = found.length > limit ? (page.at(-1)?.number ?? null) : null;
      return { incidents: await readAll(page, live), next };
    },
    find: async (reference) => {
      const incident = await store.incidents.find(referenceOf(reference));
      const [found] = incident === null ? [] : await readAll([incident]);
      if (found === undefined) return null;
      const ids = new Set(found.members.map(({ alert }) => alert.id));
      // One of an act is kept with the incident, also when all alerts that it was done to are forgotten.
      const comments = (await store.log.commentsOfIncident(found.incident.number)).filter(
        ({ alertIds }) => alertIds?.some((id) => ids.has(id)) ?? true,
      );
      return { ...found, comments, look: await readLook(found.incident) };
    },
    ofNumbers: async (numbers, live) => {
      const found = await store.incidents.byNumbers(numbers);
      return readAll(
        found.toSorted((left, right) => right.number - left.number),
        live,
      );
    },
    partOf: async (incident, slug, live) => (await readAll([incident], live, slug))[0] ?? null,
    look: async (incident, author) => {
      const look = await running.look(incident);
      const detail = { look: look.number };
      const act = { action: "look", slug: null, subject: incident.id, detail } as const;
      await store.audit.append({ atMs: clock.nowMs(), actor: author, ...act });
      running.onAct();
      return look;
    },
    act: async (request) => {
      const context = { settings: settings(), nowMs: clock.nowMs(), newId: running.newId };
      const done = await store.transaction((parts) => actOnIncident(parts, context, request));
      const { act } = request;
      if (act.kind === "judge") for (const { alert } of done.changed) running.onJudged(alert.check, act.verdict);
      running.onAct();
      return done;
    },
    foresee: (request) => foreseeAct(store, { settings: settings(), nowMs: clock.nowMs() }, request),
  };
}

/** A number of at most nine digits, else an id. */
export function referenceOf(reference: string): number | string {
  return /^[1-9]\d{0,8}$/.test(reference) ? Number(reference) : reference;
}

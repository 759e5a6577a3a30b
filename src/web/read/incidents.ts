import { actOnIncident, type IncidentActRequest, type IncidentActResult } from "../../alerting/acts/incident-acts.ts";
import { memberViewer } from "../../alerting/incident-members.ts";
import { summarizeIncident, type IncidentMember, type IncidentSummary } from "../../alerting/incident-summary.ts";
import type { Actor } from "../../contract/actor.ts";
import { showsDeath, showsLife } from "../../contract/second-opinion.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/comments.ts";
import type { Incident, IncidentQuery } from "../../store/alerts/incidents.ts";
import type { Look, LookedAt } from "../../store/alerts/looks.ts";
import type { Running } from "./running.ts";

/** An incident as one reader may see it. */
export interface ReadIncident {
  readonly incident: Incident;
  readonly summary: IncidentSummary;
  /** Those that the reader may see, in the order in which they began. */
  readonly members: readonly IncidentMember[];
}

/** What the verifier says of an incident, asset by asset. */
export interface ReadLook {
  /** The answers of the last opinion, about organizations that the reader may see. */
  readonly answers: readonly LookedAt[];
  /** Whether the verifier is being asked. */
  readonly isRunning: boolean;
}

/** An incident with what people said of it. */
export interface ReadIncidentDetail extends ReadIncident {
  readonly look: ReadLook;
  /** The comments on the incident, and on its alerts that the reader may see; oldest first. */
  readonly comments: readonly AlertComment[];
}

type Sees = (slug: string) => boolean;

/** Incidents as API and page show them (CONTRACT 15). */
export interface IncidentReading {
  /**
   * Newest first; `next` is the number before which the next page begins, null at the end. Those without a visible member are left
   * out. `live` are all live alerts, where they are read already [they are read].
   */
  list(
    query: IncidentQuery,
    sees: Sees,
    live?: readonly AlertState[],
  ): Promise<{ readonly incidents: readonly ReadIncident[]; readonly next: number | null }>;
  /** By number or id; null: unknown, or none of its members may be seen. */
  find(reference: string, sees: Sees): Promise<ReadIncidentDetail | null>;
  /** Those of these numbers of which the reader may see a member, newest first. */
  ofNumbers(numbers: readonly number[], sees: Sees, live?: readonly AlertState[]): Promise<readonly ReadIncident[]>;
  /** Begins a look at the incident as an act of `author`. @throws FlatlineError usage, too_many */
  look(incident: Incident, author: Actor): Promise<Look>;
  /** @throws FlatlineError as actOnIncident */
  act(request: IncidentActRequest): Promise<IncidentActResult>;
}

/** Returns the readings over what runs. */
export function createIncidentReading(running: Running): IncidentReading {
  const { store, clock, settings } = running;

  async function readAll(
    incidents: readonly Incident[],
    sees: Sees,
    live?: readonly AlertState[],
  ): Promise<ReadIncident[]> {
    const numbers = incidents.map(({ number }) => number);
    const kept = await store.incidents.members(numbers, live ?? (await store.alerts.allLive()));
    const { externalUrl } = settings();
    const view = await memberViewer(store, settings(), clock.nowMs());
    const found: ReadIncident[] = [];
    for (const one of incidents) {
      const all = kept.get(one.number) ?? [];
      const members = all.filter(({ alert }) => sees(alert.slug)).map((member) => view(one, member));
      if (members.length === 0) continue;
      const incident = await opinionFor(one, members.length === all.length, sees);
      found.push({ incident, members, summary: summarizeIncident(incident, members, { externalUrl }) });
    }
    return found;
  }

  /** Counts of a reader who may not see every member are of those that it may see. */
  async function opinionFor(incident: Incident, isWhole: boolean, sees: Sees): Promise<Incident> {
    const { secondOpinion, number } = incident;
    if (secondOpinion === null || isWhole) return incident;
    const all = await store.looks.answersOf({ incidentNumber: number, number: secondOpinion.look });
    const counted = all.filter(({ slug, role }) => role === "sample" && sees(slug));
    const alive = counted.filter(({ answer }) => showsLife(answer)).length;
    const gone = counted.filter(({ answer }) => showsDeath(answer)).length;
    return { ...incident, secondOpinion: { ...secondOpinion, asked: counted.length, alive, gone } };
  }

  async function readLook({ number: incidentNumber, secondOpinion }: Incident, sees: Sees): Promise<ReadLook> {
    const looks = await store.looks.of(incidentNumber);
    const isRunning = looks.some(({ endedAtMs }) => endedAtMs === null);
    if (secondOpinion === null) return { answers: [], isRunning };
    const answers = await store.looks.answersOf({ incidentNumber, number: secondOpinion.look });
    return { answers: answers.filter(({ slug }) => sees(slug)), isRunning };
  }

  return {
    list: async ({ limit, ...query }, sees, live) => {
      const shown: ReadIncident[] = [];
      let before = query.before;
      for (;;) {
        const page = await store.incidents.list({ ...query, ...(before === undefined ? {} : { before }), limit });
        shown.push(...(await readAll(page, sees, live)));
        const last = page.at(-1);
        // An identity with organizations may see nothing of a whole page.
        if (last === undefined || page.length < limit || shown.length > limit) break;
        before = last.number;
      }
      const next = shown.length > limit ? (shown[limit - 1]?.incident.number ?? null) : null;
      return { incidents: shown.slice(0, limit), next };
    },
    find: async (reference, sees) => {
      const incident = await store.incidents.find(referenceOf(reference));
      const [found] = incident === null ? [] : await readAll([incident], sees);
      if (found === undefined) return null;
      const ids = new Set(found.members.map(({ alert }) => alert.id));
      const comments = (await store.comments.ofIncident(found.incident.number)).filter(
        ({ alertId, incident: of }) =>
          (alertId === null || ids.has(alertId)) && (of?.alertIds?.some((id) => ids.has(id)) ?? true),
      );
      return { ...found, comments, look: await readLook(found.incident, sees) };
    },
    ofNumbers: async (numbers, sees, live) => {
      const found = await store.incidents.byNumbers(numbers);
      return readAll(
        found.toSorted((left, right) => right.number - left.number),
        sees,
        live,
      );
    },
    look: async (incident, author) => {
      const look = await running.look(incident);
      const detail = { look: look.number };
      const act = { action: "look", slug: null, subject: incident.id, detail } as const;
      await store.audit.append({ atMs: clock.nowMs(), actor: author, ...act });
      running.onAct();
      return look;
    },
    act: async (request) => {
      const { act, isDryRun } = request;
      const context = { store, settings: settings(), nowMs: clock.nowMs(), newId: running.newId };
      const result = await actOnIncident(context, request);
      if (isDryRun) return result;
      if (act.kind === "judge")
        for (const { alertId } of result.done) {
          const check = (await store.alerts.find(alertId))?.alert.check;
          if (check !== undefined) running.onJudged(check, act.verdict);
        }
      running.onAct();
      return result;
    },
  };
}

/** A number of at most nine digits, else an id. */
export function referenceOf(reference: string): number | string {
  return /^[1-9]\d{0,8}$/.test(reference) ? Number(reference) : reference;
}

import { actOnIncident, type IncidentActRequest, type IncidentActResult } from "../../alerting/acts/incident-acts.ts";
import { memberViewer } from "../../alerting/incident-members.ts";
import { summarizeIncident, type IncidentMember, type IncidentSummary } from "../../alerting/incident-summary.ts";
import type { AlertComment } from "../../store/alerts/comments.ts";
import type { Incident, IncidentQuery } from "../../store/alerts/incidents.ts";
import type { Running } from "./running.ts";

/** An incident as one reader may see it. */
export interface ReadIncident {
  readonly incident: Incident;
  readonly summary: IncidentSummary;
  /** Those that the reader may see, in the order in which they began. */
  readonly members: readonly IncidentMember[];
}

/** An incident with what people said of it. */
export interface ReadIncidentDetail extends ReadIncident {
  /** Of the incident, and of its alerts that the reader may see; oldest first. */
  readonly comments: readonly AlertComment[];
}

type Sees = (slug: string) => boolean;

/** Incidents as API and page show them (CONTRACT 15). */
export interface IncidentReading {
  /** Newest first; `next` is the number before which the next page begins, null at the end. Those without a visible member are left out. */
  list(
    query: IncidentQuery,
    sees: Sees,
  ): Promise<{ readonly incidents: readonly ReadIncident[]; readonly next: number | null }>;
  /** By number or id; null: unknown, or none of its members may be seen. */
  find(reference: string, sees: Sees): Promise<ReadIncidentDetail | null>;
  /** Those of these numbers of which the reader may see a member, newest first. */
  ofNumbers(numbers: readonly number[], sees: Sees): Promise<readonly ReadIncident[]>;
  /** @throws FlatlineError as actOnIncident */
  act(request: IncidentActRequest): Promise<IncidentActResult>;
}

/** Returns the readings over what runs. */
export function createIncidentReading(running: Running): IncidentReading {
  const { store, clock, settings } = running;

  async function readAll(incidents: readonly Incident[], sees: Sees): Promise<ReadIncident[]> {
    const kept = await store.incidents.members(incidents.map(({ number }) => number));
    const { externalUrl } = settings();
    const view = await memberViewer(store, settings(), clock.nowMs());
    return incidents.flatMap((incident) => {
      const all = kept.get(incident.number) ?? [];
      const members = all.filter(({ alert }) => sees(alert.slug)).map((one) => view(incident, one));
      if (members.length === 0) return [];
      return [{ incident, members, summary: summarizeIncident(incident, members, { externalUrl }) }];
    });
  }

  return {
    list: async ({ limit, ...query }, sees) => {
      const shown: ReadIncident[] = [];
      let before = query.before;
      for (;;) {
        const page = await store.incidents.list({ ...query, ...(before === undefined ? {} : { before }), limit });
        shown.push(...(await readAll(page, sees)));
        const last = page.at(-1);
        // Of some pages an identity with organizations sees nothing.
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
      return { ...found, comments };
    },
    ofNumbers: async (numbers, sees) => {
      const found = await store.incidents.byNumbers(numbers);
      return readAll(
        found.toSorted((left, right) => right.number - left.number),
        sees,
      );
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

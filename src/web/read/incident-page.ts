import { heldGates } from "../../alerting/decide/gate.ts";
import { dayMs } from "../../base/time.ts";
import type { CostAnswer } from "../../contract/v1/cost.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import type { Marker } from "../../store/alerts/markers.ts";
import type { OutboxEntry } from "../../store/alerts/outbox.ts";
import type { AlertAssets } from "../read/alert-assets.ts";
import type { IncidentReading, ReadIncident, ReadIncidentDetail, ReadLook } from "./incidents.ts";
import type { Running } from "./running.ts";

/** An incident with what its headline and its answers are made of, as one reader may see it. */
export interface IncidentFacts extends ReadIncident {
  readonly nowMs: number;
  /** Since when gates are shut by alerts of this incident, by organization. */
  readonly heldSince: ReadonlyMap<string, number>;
  /** When each receiver first accepted something of it, the first one first. */
  readonly notified: readonly { readonly receiver: string; readonly atMs: number }[];
  /** Whether a verifier is configured. */
  readonly canLook: boolean;
  /** Whether the verifier is being asked; false also where that was not asked for. */
  readonly isLooking: boolean;
  /** Who is called next if nobody takes it; null: nobody. */
  readonly escalation: { readonly receiver: string; readonly atMs: number } | null;
}

/** An incident with everything that its page shows. */
export interface IncidentPage extends IncidentFacts {
  readonly comments: ReadIncidentDetail["comments"];
  /** What the verifier said of each asset. */
  readonly answers: ReadLook["answers"];
  /** Notifications of it that wait for their receiver. */
  readonly waiting: readonly OutboxEntry[];
  /** Oldest first, from a day before it began. */
  readonly markers: readonly Marker[];
  readonly cost: CostAnswer | null;
  /** The number of the incident before; null: there is none. */
  readonly previous: number | null;
}

/** Returns the same for a reader who may not read what receivers are called (CONTRACT 13). */
export function withoutReceiverNames<Facts extends IncidentFacts & Partial<Pick<IncidentPage, "waiting">>>(
  facts: Facts,
): Facts {
  const receiver = "a receiver";
  const { notified, escalation, waiting = [] } = facts;
  return {
    ...facts,
    notified: notified.slice(0, 1).map((one) => ({ ...one, receiver })),
    escalation: escalation === null ? null : { ...escalation, receiver },
    waiting: waiting.map((one) => ({ ...one, receiver })),
  };
}

export interface IncidentPages {
  /** By number or id; null: unknown. */
  read(reference: string): Promise<IncidentPage | null>;
  /** The facts of some incidents, in their order. `failures`: those of the gate that no hand has released. */
  factsOf(found: readonly ReadIncident[], failures: readonly GateFailure[]): Promise<readonly IncidentFacts[]>;
}

// More than receivers, whose latest ones are shown.
const mostWaiting = 100;

/** Reads incidents for pages. */
export function createIncidentPages(
  running: Running,
  incidents: Pick<IncidentReading, "find">,
  assets: Pick<AlertAssets, "costOf">,
): IncidentPages {
  const { store, clock, settings } = running;

  async function factsOf(
    found: readonly ReadIncident[],
    failures: readonly GateFailure[],
  ): Promise<readonly IncidentFacts[]> {
    if (found.length === 0) return [];
    const nowMs = clock.nowMs();
    const facts: IncidentFacts[] = [];
    for (const one of found) {
      const ids = new Set(one.members.map(({ alert }) => alert.id));
      const own = failures.filter(({ alert }) => ids.has(alert.id));
      facts.push({
        ...one,
        nowMs,
        heldSince: heldGates(own, (slug) => settings().gateOf(slug)),
        notified: await store.deliveries.firstByReceiver([...ids]),
        canLook: running.canLook(),
        isLooking: false,
        escalation: nextEscalation(running, one, nowMs),
      });
    }
    return facts;
  }

  return {
    factsOf,
    read: async (reference) => {
      const found = await incidents.find(reference);
      if (found === null) return null;
      const live = found.members.flatMap(({ alert, end }) => (end === null ? [alert] : []));
      const [facts] = await factsOf([found], await store.gate.unreleased(live));
      if (facts === undefined) return null;
      const { incident, members } = found;
      const fromMs = incident.startedAtMs - dayMs;
      const toMs = incident.endedAtMs ?? clock.nowMs();
      const [first] = members;
      const waiting = await store.outbox.ofIncident(incident.number, mostWaiting);
      const only = members.length === 1 ? first?.alert.slug : undefined;
      const markers = await store.markers.between({ fromMs, toMs, ...(only === undefined ? {} : { slug: only }) });
      const [before] = await store.incidents.list({ state: "all", before: incident.number, limit: 1 });
      return {
        ...facts,
        isLooking: found.look.isRunning,
        answers: found.look.answers,
        comments: found.comments,
        waiting: [...new Map(waiting.map((entry) => [entry.receiver, entry])).values()],
        markers: markers.filter(({ slug }) => slug === null || members.some(({ alert }) => alert.slug === slug)),
        cost: await assets.costOf(members.map(({ alert }) => alert)),
        previous: before?.number ?? null,
      };
    },
  };
}

/** The receiver that is notified next of an alert which nobody has acknowledged. */
function nextEscalation({ settings }: Running, { members }: ReadIncident, nowMs: number): IncidentFacts["escalation"] {
  const rules = settings();
  let next: IncidentFacts["escalation"] = null;
  for (const { alert, end } of members) {
    const { firingAtMs, acknowledgement, check, slug } = alert;
    if (end !== null || firingAtMs === null || acknowledgement !== null) continue;
    for (const { name, afterMs } of rules.targetOf(check, slug)?.receivers ?? []) {
      const atMs = firingAtMs + afterMs;
      if (afterMs > 0 && atMs > nowMs && atMs < (next?.atMs ?? Infinity)) next = { receiver: name, atMs };
    }
  }
  return next;
}

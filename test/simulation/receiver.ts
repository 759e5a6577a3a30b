import { createHash } from "node:crypto";

import type { Clock } from "../../src/base/time.ts";
import type { Chance } from "./chance.ts";
import type { FarAnswer, FarRequest, FarSide } from "./network.ts";

/** What is wrong with a receiver for a while. */
export const receiverFaults = ["slow", "busy", "refused", "deaf", "gone"] as const;
export type ReceiverFault = (typeof receiverFaults)[number];

/** One alert of a notification, as a webhook has it. */
export interface SentAlert {
  readonly id: string;
  readonly incidentId: string | null;
  readonly check: string;
  readonly slug: string;
  readonly kind: "verdict" | "unknown";
  readonly event: string;
  readonly severity: string;
  readonly previousSeverity: string;
  readonly startsAt: string;
  readonly endsAt: string | null;
  readonly reason: string;
  /** Of a judgement that is notified, or a gate that was opened. */
  readonly act?: { readonly comment: string | null };
  readonly judgement?: { readonly verdict: string } | null;
}

export interface Accepted {
  readonly id: string;
  readonly atMs: number;
  /** When it was formed, by what it says. */
  readonly formedAtMs: number;
  readonly status: string;
  readonly incidentId: string | null;
  /** Of a fleet verdict. */
  readonly isOfFleet: boolean;
  /** Of its words: these take most of the memory of a life. */
  readonly digest: string;
  readonly alerts: readonly SentAlert[];
}

/** A webhook's far side: what it accepted, in order, repeats included. */
export class SimulatedReceiver implements FarSide {
  fault: ReceiverFault | null = null;
  readonly name: string;
  readonly accepted: Accepted[] = [];
  /** Notifications that were tried, and those that it refused for ever. */
  attempts = 0;
  refused = 0;
  /** Of refused ones (4xx), by id: they are dead letters, and not sent again. */
  readonly refusedAlerts = new Map<string, SentAlert>();
  /** When each was refused last. */
  readonly refusedAtMs = new Map<string, number>();
  /** What arrived under more than one id, accepted or not. */
  readonly renamed: { readonly ids: string; readonly formedAtMs: number }[] = [];
  /** The id of each notification that arrived, by the digest of its words. */
  readonly #first = new Map<string, string>();
  readonly #clock: Clock;
  readonly #chance: Chance;

  constructor(name: string, { clock, chance }: { readonly clock: Clock; readonly chance: Chance }) {
    this.name = name;
    this.#clock = clock;
    this.#chance = chance;
  }

  connect(): boolean {
    this.attempts++;
    return this.fault !== "refused";
  }

  handle(request: FarRequest): { latencyMs: number; arrive: () => FarAnswer } {
    const isSlow = this.fault === "slow" && this.#chance.isTrue(0.7);
    const latencyMs = isSlow ? this.#chance.between(4_000, 60_000) : this.#chance.between(5, 300);
    return { latencyMs, arrive: () => this.#answer(request, latencyMs) };
  }

  #answer({ body, headers }: FarRequest, latencyMs: number): FarAnswer {
    const { id, ...words } = JSON.parse(body) as {
      readonly id: string;
      readonly status: string;
      readonly fleet: object | null;
      readonly incident: { readonly id: string } | null;
      readonly generatedAt: string;
      readonly alerts: readonly SentAlert[];
    };
    const { generatedAt, status, fleet, incident, alerts } = words;
    const said = digest(JSON.stringify(words));
    const formedAtMs = Date.parse(generatedAt);
    // Two acts of one instant, as after a suspension, are the same but for their ids: a judgement taken back, an
    // acknowledgement that is done again.
    const isUnique = !alerts.every(
      ({ event, judgement }) =>
        event === "acknowledged" || event === "unacknowledged" || (event === "judged" && judgement === null),
    );
    const before = (isUnique ? this.#first.get(said) : undefined) ?? id;
    this.#first.set(said, before);
    for (const other of [before, headers["webhook-id"] ?? id])
      if (other !== id) this.renamed.push({ ids: `${other} as ${id}`, formedAtMs });
    // It takes some: what came later may overtake what is tried again.
    if (this.fault === "busy" && this.#chance.isTrue(0.85)) return { latencyMs, kind: "answer", status: 503, body: "" };
    if (this.fault === "gone") {
      this.refused++;
      for (const alert of alerts) {
        this.refusedAlerts.set(alert.id, alert);
        this.refusedAtMs.set(alert.id, this.#clock.nowMs());
      }
      return { latencyMs, kind: "answer", status: 410, body: "" };
    }
    this.accepted.push({
      id,
      atMs: this.#clock.nowMs(),
      formedAtMs,
      status,
      incidentId: incident?.id ?? null,
      isOfFleet: fleet !== null,
      digest: digest(body),
      alerts,
    });
    // It took the notification, and its answer is lost: the same one comes again.
    if (this.fault === "deaf") return { latencyMs, kind: this.#chance.pick(["reset", "hang"]) };
    return { latencyMs, kind: "cut", status: 200, body: "thanks" };
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

import type { Severity } from "../../contract/severity.ts";

/** What of an alert was put into the outbox for a receiver; no row: nothing was. */
export interface QueuedAlert {
  readonly receiver: string;
  readonly alertId: string;
  /** The number of its incident. */
  readonly incident: number;
  /** The severity that was told last; null: what told of it was not delivered. */
  readonly severity: Severity | null;
  /** The end was queued, too, or the receiver wants none. */
  readonly isEnded: boolean;
  /** When a message of it was given up, with which it went back to this; null: none was. */
  readonly notDeliveredAtMs: number | null;
}

/** What of an incident was put into the outbox for a receiver. */
export interface QueuedIncident {
  readonly receiver: string;
  readonly incident: number;
  /** Of the last notification. */
  readonly lastAtMs: number;
  /** Of the last one that named alerts that were new to it. */
  readonly lastNewAtMs: number;
  /** How many alerts its part had at the last one. */
  readonly members: number;
  readonly knowsVerdict: boolean;
  readonly isEscalated: boolean;
  /** That the excess has stopped. */
  readonly knowsStop: boolean;
  /** The last second opinion; 0: none. */
  readonly knownLook: number;
  /** How many acknowledgements of the incident had ended at the one that it knows; null: it knows of none. */
  readonly acknowledgedKey: number | null;
}

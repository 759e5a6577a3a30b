import type { Instrument } from "./catalogue.ts";

export const deliveryOutcomes = ["delivered", "retried", "dead_lettered"] as const;

// Receivers answer within their timeout of 10 s; a longer one can be configured.
const deliveryBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The counters of each receiver in this process: an idle one, one that hangs and one that refuses differ. */
export const countedReceiverInstruments = {
  notifications: {
    name: "flatline_notifications_total",
    type: "counter",
    labels: ["receiver", "outcome"],
    help: "Attempts to deliver a notification, by outcome.",
    values: { outcome: deliveryOutcomes },
  },
  notificationDuration: {
    name: "flatline_notification_duration_seconds",
    type: "histogram",
    labels: ["receiver"],
    help: "How long attempts to deliver a notification took.",
    buckets: deliveryBuckets,
  },
  attemptsUnderWay: {
    name: "flatline_receiver_attempts_under_way",
    type: "gauge",
    labels: ["receiver"],
    help: "Requests to the receiver that it has not answered yet.",
    note: "At most four, of this process. Above 0 for long: the receiver hangs.",
  },
  receiverTimeouts: {
    name: "flatline_receiver_timeouts_total",
    type: "counter",
    labels: ["receiver"],
    help: "Requests that the receiver did not answer within its timeout.",
    note: "A receiver that hangs; one that refuses, or cannot be reached, answers in time.",
  },
} as const satisfies Record<string, Instrument>;

/** What the store says of each receiver, read at each scrape. */
export const storedReceiverInstruments = {
  outboxPending: {
    name: "flatline_outbox_pending",
    type: "gauge",
    labels: ["receiver"],
    help: "Notifications that the receiver has not accepted yet.",
  },
  outboxDeadLetters: {
    name: "flatline_outbox_dead_letters",
    type: "gauge",
    labels: ["receiver"],
    help: "Notifications that will not be tried again until they are retried or discarded by hand.",
  },
  outboxOldestAge: {
    name: "flatline_outbox_oldest_age_seconds",
    type: "gauge",
    labels: ["receiver"],
    help: "Age of the oldest notification that the receiver has not accepted yet; 0 without one.",
  },
  receiverPausedUntil: {
    name: "flatline_receiver_paused_until_timestamp_seconds",
    type: "gauge",
    labels: ["receiver"],
    help: "Until when the receiver asked to be left alone (Retry-After); 0 while it is not paused.",
    note: "At most an hour ahead. `outbox retry` and `notify test` end it.",
  },
} as const satisfies Record<string, Instrument>;

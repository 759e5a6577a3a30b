import { deliveryName, type WaitingEntry } from "../../store/alerts/outbox-entry.ts";
import type { Unaccepted } from "./parts/notified.ts";

/** Returns what is shown of an entry; recipients, and what receivers answer, only to those who may read that. */
export function viewUnaccepted(entry: WaitingEntry, withAnswers: boolean): Unaccepted {
  const { receiver, recipient, state, attempts, nextAttemptAtMs, lastError } = entry;
  return {
    receiver: withAnswers ? deliveryName(receiver, recipient) : receiver,
    state,
    isRefused: lastError !== null,
    tries: withAnswers ? { attempts, nextAttemptAtMs, lastError } : null,
  };
}

import { shortened } from "../notify/budget.ts";
import type { Receiver } from "./receiver.ts";

/** Returns the receiver, which tries what it is refused as too large once more with less, within the same attempt. */
export function shorteningReceiver(receiver: Receiver): Receiver {
  return {
    ...receiver,
    deliver: async (notification, context) => {
      const outcome = await receiver.deliver(notification, context);
      if (outcome.kind !== "rejected" || outcome.isTooLarge !== true) return outcome;
      const again = await receiver.deliver(shortened(notification), context);
      const what = `shortened after ${outcome.error}`;
      return again.kind === "accepted"
        ? { ...again, detail: `${again.detail}; ${what}` }
        : { ...again, error: `${again.error}; ${what}` };
    },
  };
}

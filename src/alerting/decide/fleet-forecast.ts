import { planNotifications, type PlanInput } from "./grouping.ts";

/** When a fleet verdict goes out, and to whom, when nothing else happens until then. */
export interface FleetForecast {
  readonly atMs: number;
  readonly receivers: readonly string[];
}

// Other news may be due before it: reminders, ends, single alerts of other checks. Each plan looks behind the one before.
const mostPlans = 16;

/**
 * Foresees the fleet verdict by the plan that will form it, made for ever later times. Null: it is not going to be sent, as
 * all of its alerts are held back, routed to no receiver, or notified already.
 */
export function forecastFleet(input: PlanInput): FleetForecast | null {
  let atMs = input.nowMs;
  let fleet = input.fleet;
  for (let plans = 0; plans < mostPlans; plans++) {
    const plan = planNotifications({ ...input, fleet, nowMs: atMs });
    const { notifications, nextAtMs } = plan;
    // One that begins with this plan lasts for the next.
    if (plan.fleet !== null) fleet = plan.fleet.endsAtMs === null ? plan.fleet : null;
    const receivers = notifications.flatMap(({ receiver, fleet }) => (fleet === null ? [] : [receiver]));
    if (receivers.length > 0) return { atMs, receivers };
    if (nextAtMs === null || nextAtMs <= atMs) return null;
    atMs = nextAtMs;
  }
  return null;
}

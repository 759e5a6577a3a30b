import { countFleet, fleetBound } from "../../alerting/decide/fleet-bound.ts";
import { heldGates } from "../../alerting/decide/gate.ts";
import { fleetOf } from "../../alerting/view.ts";
import type { Clock } from "../../base/time.ts";
import type { WaitingEntry } from "../../store/alerts/outbox-entry.ts";
import type { Board } from "../../store/runs/board.ts";
import type { Store } from "../../store/store.ts";
import type { PagePort } from "../../web/page/ports.ts";
import type { DeliveryLog } from "../delivery-log.ts";
import type { Runtime } from "../runtime.ts";

export interface PageFleetOptions {
  readonly store: Store;
  readonly board: Pick<Board, "states">;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly deliveries: DeliveryLog;
}

// Those that the trace of a week can show.
const lookedAtIncidents = 200;
// More than receivers, whose latest ones are what is shown.
const mostWaiting = 1_000;

/** Creates the fleet verdict as the pages see it, by the functions that decide about its notifications. */
export function createPageFleet(
  options: PageFleetOptions,
): Pick<PagePort, "fleets" | "fleetStanding" | "heldSince" | "notifiedOfFleet"> {
  const { store, runtime } = options;
  return {
    fleets: async () =>
      (await store.incidents.list({ state: "all", family: "deaths", limit: lookedAtIncidents })).flatMap(
        (incident) => fleetOf(incident) ?? [],
      ),
    fleetStanding: (states, alerts) => {
      const { settings } = runtime.current();
      const firing = alerts.filter(
        ({ check, kind, slug, state }) =>
          state === "firing" &&
          check === "dead-asset-spike" &&
          kind === "verdict" &&
          settings.targetOf(check, slug)?.isDrill !== true,
      );
      const spiking = new Set(firing.map(({ slug }) => slug));
      const organizations = countFleet(states, spiking);
      return { spiking, organizations, bound: fleetBound(settings.fleet, organizations) };
    },
    heldSince: async () => {
      const { settings } = runtime.current();
      return heldGates(await store.gate.failures(), (slug) => settings.gateOf(slug));
    },
    notifiedOfFleet: async (fleetId) => {
      // What waits is read first: what is accepted in between is then in one of the two.
      const waiting = await store.outbox.waitingWith({ subject: fleetId, fromMs: 0, limit: mostWaiting });
      await options.deliveries.flush();
      const accepted = await store.deliveries.acceptedOfFleet(fleetId);
      const isAccepted = (one: WaitingEntry): boolean =>
        accepted.some(({ receiver, recipient }) => receiver === one.receiver && recipient === one.recipient);
      return {
        accepted: firstOfEach(accepted),
        waiting: firstOfEach(waiting.filter((one) => !isAccepted(one))),
      };
    },
  };
}

/** One of each receiver, whose recipients the page does not name. */
function firstOfEach<Entry extends { readonly receiver: string }>(entries: readonly Entry[]): Entry[] {
  return [...Map.groupBy(entries, ({ receiver }) => receiver).values()].flatMap((group) => group.slice(0, 1));
}

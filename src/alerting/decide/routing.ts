import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Address } from "../../store/alerts/outbox.ts";
import { recipientsOf } from "../deliver/receiver.ts";
import type { AlertingSettings, AlertTarget, ReceiverRoute } from "../settings.ts";
import { matches } from "./matching.ts";

/** Returns how long after it fires an alert of this target goes to `route`; 0: at once, null: never. */
export function routedAfterMs(
  { check, slug }: Pick<Alert, "check" | "slug">,
  target: AlertTarget | null,
  route: ReceiverRoute,
): number | null {
  const routed = target?.receivers.find(({ name }) => name === route.name);
  if (target === null || routed === undefined) return null;
  return route.match === null || matches(route.match, { check, slug, labels: target.labels }) ? routed.afterMs : null;
}

const counts = new WeakMap<Pick<AlertingSettings, "slugs">, Map<string, number>>();

/** Returns how many watched organizations are routed to a receiver. */
export function watchedBy(
  settings: Pick<AlertingSettings, "slugs" | "receivers" | "targetOf">,
  receiver: string,
): number {
  const known = counts.get(settings) ?? new Map<string, number>();
  counts.set(settings, known);
  const route = settings.receivers.find(({ name }) => name === receiver);
  const count =
    known.get(receiver) ??
    settings.slugs.filter((slug) => {
      const key = { check: "dead-asset-spike", slug } as const;
      return route !== undefined && routedAfterMs(key, settings.targetOf(key.check, slug), route) !== null;
    }).length;
  known.set(receiver, count);
  return count;
}

/** A receiver or one of its recipients, each notified separately. */
export interface RoutedAddress extends Address {
  readonly route: ReceiverRoute;
}

export function addressesOf(routes: readonly ReceiverRoute[]): readonly RoutedAddress[] {
  return routes.flatMap((route) =>
    recipientsOf(route).map((recipient) => ({ receiver: route.name, recipient, route })),
  );
}

export function wants(route: ReceiverRoute, severity: Severity): boolean {
  if (severity === "unknown") return route.sendUnknown;
  return compareSeverity(severity, route.minSeverity) >= 0;
}

/**
 * Returns whether the receiver gets this alert, by its worst severity. An escalation, or a check that is not configured
 * any more, counts only if the receiver was notified of it.
 */
export function isRouted(
  settings: Pick<AlertingSettings, "targetOf">,
  route: ReceiverRoute,
  alert: Pick<Alert, "check" | "slug" | "peak">,
  isTold: () => boolean,
): boolean {
  const target = settings.targetOf(alert.check, alert.slug);
  if (target === null) return isTold();
  const afterMs = routedAfterMs(alert, target, route);
  if (afterMs === null || !wants(route, alert.peak.severity)) return false;
  return afterMs === 0 || isTold();
}

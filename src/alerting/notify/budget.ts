import { boundResult, type ResultBounds } from "../../contract/result-bounds.ts";
import type { DeliveryBudget } from "../deliver/receiver.ts";
import type { AlertNotice, Notification } from "./notification.ts";

// A shortened result says how bad it is; the API has the rest.
const shortBounds: ResultBounds = { keys: 16, findings: 0, characters: 64 };
// Room for some hundred alerts. Receivers without a budget show a few of them and count the others.
const mostStoredBytes = 256 * 1_024;
// Alerts differ in size. The spare room makes it rare that a part must be split again.
const fullShare = 0.9;

/**
 * Splits a notification into parts within the receiver's budget, in order; shortens an alert that is too large. Without
 * a budget it stays one notification, and its alerts are shortened when they are too large together.
 */
export function withinBudget(
  alerts: readonly AlertNotice[],
  compose: (alerts: readonly AlertNotice[]) => Notification,
  budget: DeliveryBudget | null,
): readonly Notification[] {
  const whole = compose(alerts);
  if (budget === null) return [storedBytes(alerts) <= mostStoredBytes ? whole : shortened(whole)];
  const bytes = budget.bytesOf(whole);
  if (bytes <= budget.maxBytes) return [whole];
  if (alerts.length === 1) return [shortened(whole)];
  const parts = Math.min(alerts.length, Math.ceil(bytes / (budget.maxBytes * fullShare)));
  const length = Math.ceil(alerts.length / parts);
  return Array.from({ length: Math.ceil(alerts.length / length) }, (_, index) =>
    alerts.slice(index * length, (index + 1) * length),
  ).flatMap((some) => withinBudget(some, compose, budget));
}

/** Returns the notification with shortened results: verdict and counts only, `isTruncated` set. */
export function shortened(notification: Notification): Notification {
  return { ...notification, alerts: notification.alerts.map(shortenedNotice) };
}

function shortenedNotice(notice: AlertNotice): AlertNotice {
  const { result, sample: _sample, ...rest } = notice;
  if (result === null) return notice;
  const counted = Object.entries(result.observed).filter(([, value]) => typeof value === "number");
  const short = {
    ...result,
    observed: Object.fromEntries(counted),
    threshold: {},
    suggestedAction: null,
    appUrl: null,
  };
  return { ...rest, result: { ...boundResult(short, shortBounds), isTruncated: true } };
}

function storedBytes(alerts: readonly AlertNotice[]): number {
  return alerts.reduce((bytes, notice) => bytes + Buffer.byteLength(JSON.stringify(notice)), 0);
}

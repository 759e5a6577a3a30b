import { literalOf } from "../../base/text-pattern.ts";
import { nextCronAtMs } from "../../base/cron.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";
import { matches, type Subject } from "./matching.ts";
import type { SilenceRule } from "../../contract/silence.ts";

// A pattern that recurs before its window ends never ends. Past a year ahead counts as never.
const horizonMs = 366 * 86_400_000;
// Touching windows of a recurring silence are one window; so many are joined to find its end.
const maxJoinedWindows = 1_000;

export interface SilenceWindow {
  readonly startsAtMs: number;
  /** Exclusive. */
  readonly endsAtMs: number;
}

/** Returns a silence made at run time as a rule like those of the configuration. */
export function ruleOf(silence: StoredSilence): SilenceRule {
  return {
    kind: "fixed",
    slug: silence.slug,
    ...(silence.check === null ? {} : { check: silence.check }),
    startsAtMs: silence.startsAtMs,
    endsAtMs: silence.endsAtMs,
    comment: silence.comment,
  };
}

/** Returns the rule's window at `atMs`; null: none. */
export function windowAt(rule: SilenceRule, atMs: number): SilenceWindow | null {
  if (rule.kind === "fixed") {
    return rule.startsAtMs <= atMs && atMs < rule.endsAtMs
      ? { startsAtMs: rule.startsAtMs, endsAtMs: rule.endsAtMs }
      : null;
  }
  const startsAtMs = startAfter(rule, atMs - rule.durationMs);
  if (startsAtMs === null || startsAtMs > atMs) return null;
  let endsAtMs = startsAtMs + rule.durationMs;
  let lastStartMs = startsAtMs;
  for (let joined = 0; joined < maxJoinedWindows && endsAtMs - atMs < horizonMs; joined++) {
    const nextStartMs = startAfter(rule, lastStartMs);
    if (nextStartMs === null || nextStartMs > endsAtMs) break;
    lastStartMs = nextStartMs;
    endsAtMs = nextStartMs + rule.durationMs;
  }
  return { startsAtMs, endsAtMs };
}

/** Returns when the rule next begins or ends to hold after `atMs`; null: never. */
export function nextChangeAtMs(rule: SilenceRule, atMs: number): number | null {
  const current = windowAt(rule, atMs);
  if (current !== null) return current.endsAtMs;
  if (rule.kind === "recurring") return startAfter(rule, atMs);
  return rule.startsAtMs > atMs && rule.startsAtMs < rule.endsAtMs ? rule.startsAtMs : null;
}

/** Returns whether the rule holds at `atMs`; cheaper than windowAt, which joins windows. */
function holdsAt(rule: SilenceRule, atMs: number): boolean {
  if (rule.kind === "fixed") return windowAt(rule, atMs) !== null;
  const startsAtMs = startAfter(rule, atMs - rule.durationMs);
  return startsAtMs !== null && startsAtMs <= atMs;
}

/** Returns the rules that hold at `atMs`. Call it once for many alerts, then match each. */
export function rulesAt(rules: readonly SilenceRule[], atMs: number): readonly SilenceRule[] {
  return rules.filter((rule) => holdsAt(rule, atMs));
}

/** Returns a look-up of the rules for an organization: a silence of a large incident is thousands of rules. */
export function rulesBySlug(rules: readonly SilenceRule[]): (slug: string) => readonly SilenceRule[] {
  const bySlug = Map.groupBy(rules, ({ slug }) => (slug === undefined ? null : literalOf(slug)));
  const ofAll = bySlug.get(null) ?? [];
  return (slug) => {
    const own = bySlug.get(slug);
    return own === undefined ? ofAll : [...own, ...ofAll];
  };
}

/** Returns a function that says whether a rule that holds at `atMs` matches a subject. */
export function silencedAt(rules: readonly SilenceRule[], atMs: number): (subject: Subject) => boolean {
  const rulesOf = rulesBySlug(rulesAt(rules, atMs));
  return (subject) => rulesOf(subject.slug).some((rule) => matches(rule, subject));
}

/** Returns when any of the rules next begins or ends to hold after `atMs`; Infinity: never. */
export function nextSilenceChangeAtMs(rules: readonly SilenceRule[], atMs: number): number {
  return rules.reduce((nextMs, rule) => Math.min(nextMs, nextChangeAtMs(rule, atMs) ?? Infinity), Infinity);
}

function startAfter(rule: SilenceRule & { kind: "recurring" }, afterMs: number): number | null {
  return nextCronAtMs({ pattern: rule.schedule, timezone: rule.timezone }, afterMs);
}

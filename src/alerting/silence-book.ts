import { FlatlineError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { NewSilence, SilenceStore, StoredSilence } from "../store/alerts/silences.ts";
import type { SilenceRule } from "../contract/silence.ts";
import type { AlertingSettings } from "./settings.ts";
import { nextChangeAtMs, ruleOf, windowAt } from "./decide/silences.ts";

/** One silence of either origin, as lists show it. */
export interface SilenceView {
  /** null: of the configuration, which is where it can be changed. */
  readonly id: string | null;
  readonly origin: "configuration" | "runtime";
  readonly state: "pending" | "active" | "expired";
  readonly rule: SilenceRule;
  readonly createdBy: string | null;
  /** null: of the configuration. */
  readonly createdAtMs: number | null;
  /** When its state changes next; null: never again. */
  readonly nextChangeAtMs: number | null;
}

/** Silences made at run time, beside those of the configuration (CONTRACT 7). */
export interface SilenceBook {
  /** Stores it, from now on or from its start; what it holds back is decided anew at once. @throws invalid_data */
  add(silence: NewSilence): Promise<StoredSilence>;
  /** Ends it now. False: there is none with this id that has not ended. */
  expire(id: string): Promise<boolean>;
  /** Those of the configuration, then those made at run time that have not ended. */
  list(): Promise<readonly SilenceView[]>;
  /** Deletes those that ended at or before `beforeMs`. */
  prune(beforeMs: number): Promise<void>;
}

export interface SilenceBookOptions {
  readonly store: SilenceStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  readonly settings: () => Pick<AlertingSettings, "silences">;
  /** Told when a silence was made or ended. */
  readonly onChange: () => void;
}

/** The silences over the store. */
export function createSilenceBook({
  store,
  clock,
  logger,
  newId,
  settings,
  onChange,
}: SilenceBookOptions): SilenceBook {
  return {
    add: async (wanted) => {
      const nowMs = clock.nowMs();
      const { slug, check, comment, createdBy } = wanted;
      const silence = { ...wanted, id: newId(), createdAtMs: nowMs };
      const issues = [
        ...(slug === "" ? ['slug must not be empty; one that matches all is "*"'] : []),
        ...(check === "" ? ["check must not be empty"] : []),
        ...(comment.trim() === "" ? ["comment must say why"] : []),
        ...(silence.endsAtMs <= silence.startsAtMs ? ["endsAt must be after startsAt"] : []),
        ...(silence.endsAtMs <= nowMs ? ["endsAt has passed"] : []),
      ];
      if (issues.length > 0) throw new FlatlineError("invalid_data", issues.join("; "), { issues });
      await store.add(silence);
      logger.info({ silence: silence.id, slug, check, comment, createdBy }, "silence made");
      onChange();
      return silence;
    },
    expire: async (id) => {
      const isExpired = await store.expire(id, clock.nowMs());
      if (isExpired) {
        logger.info({ silence: id }, "silence ended");
        onChange();
      }
      return isExpired;
    },
    list: async () => {
      const nowMs = clock.nowMs();
      const stored = await store.endingAfter(nowMs);
      return [
        ...settings().silences.map((rule) => viewOf(rule, null, nowMs)),
        ...stored.map((silence) => viewOf(ruleOf(silence), silence, nowMs)),
      ];
    },
    prune: (beforeMs) => store.prune(beforeMs),
  };
}

function viewOf(rule: SilenceRule, stored: StoredSilence | null, nowMs: number): SilenceView {
  const nextMs = nextChangeAtMs(rule, nowMs);
  const waiting = nextMs === null ? "expired" : "pending";
  return {
    id: stored?.id ?? null,
    origin: stored === null ? "configuration" : "runtime",
    state: windowAt(rule, nowMs) === null ? waiting : "active",
    rule,
    createdBy: stored?.createdBy ?? null,
    createdAtMs: stored?.createdAtMs ?? null,
    nextChangeAtMs: nextMs,
  };
}

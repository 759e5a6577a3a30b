import { FlatlineError } from "../base/errors.ts";
import type { Actor } from "../contract/actor.ts";
import type { NewSilence, SilenceChange, StoredSilence } from "../store/alerts/silences.ts";
import { longestSilenceMs, type SilenceRule } from "../contract/silence.ts";
import { iso } from "../contract/v1/instant.ts";
import type { AlertingGround, AlertingSettings } from "./settings.ts";
import { nextChangeAtMs, ruleOf, windowAt } from "./decide/silences.ts";

/** Silences made at run time, besides those of the configuration (CONTRACT 7). */
export type SilenceBook = ReturnType<typeof createSilenceBook>;

interface SilenceBookOptions extends Pick<AlertingGround, "store" | "clock" | "logger" | "newId"> {
  readonly settings: () => Pick<AlertingSettings, "silences">;
  /** Called after a silence was made, changed or ended. */
  readonly onChange: () => void;
}

export function createSilenceBook({ store, clock, logger, newId, settings, onChange }: SilenceBookOptions) {
  return {
    /** Stores a silence; notifications are decided again at once. @throws FlatlineError invalid_data */
    add: async (wanted: NewSilence, author: Actor): Promise<ListedSilence> => {
      const nowMs = clock.nowMs();
      const { slug, check, comment } = wanted;
      const { name: createdBy, note } = author;
      const silence = { ...wanted, id: newId(), createdBy, note, createdAtMs: nowMs };
      refuse([
        ...(slug === "" ? ['slug must not be empty; one that matches all is "*"'] : []),
        ...(check === "" ? ["check must not be empty"] : []),
        ...problemsOf(silence, nowMs),
      ]);
      const detail = { check, startsAt: iso(silence.startsAtMs), endsAt: iso(silence.endsAtMs), comment };
      await store.transaction(async ({ silences, audit }) => {
        await silences.add(silence);
        await audit.append({ atMs: nowMs, actor: author, action: "silence.create", slug, subject: silence.id, detail });
      });
      logger.info({ silence: silence.id, slug, check, comment, createdBy }, "silence made");
      onChange();
      return listedSilence(ruleOf(silence), silence, nowMs);
    },
    /**
     * Changes the end, the comment or both.
     * @throws FlatlineError not_found; conflict: it has ended; invalid_data: the new end or comment is wrong
     */
    change: async (id: string, change: SilenceChange, author: Actor): Promise<ListedSilence> => {
      const nowMs = clock.nowMs();
      const { before, after } = await store.transaction(async ({ silences, audit }) => {
        const stored = await silences.byId(id);
        if (stored === null) throw new FlatlineError("not_found", "no silence has this id");
        const changed = { ...stored, ...change };
        refuse(stored.endsAtMs > nowMs ? problemsOf(changed, nowMs) : []);
        if (!(await silences.change(id, change, nowMs)))
          throw new FlatlineError("conflict", "the silence has ended: make another one");
        const { slug, endsAtMs } = stored;
        const detail = {
          ...(change.endsAtMs === undefined ? {} : { endsAt: iso(change.endsAtMs), endedBefore: iso(endsAtMs) }),
          ...(change.comment === undefined ? {} : { comment: change.comment }),
        };
        await audit.append({ atMs: nowMs, actor: author, action: "silence.change", slug, subject: id, detail });
        return { before: stored, after: changed };
      });
      logger.info(
        { silence: id, slug: before.slug, endsAt: iso(after.endsAtMs), comment: after.comment },
        "silence changed",
      );
      onChange();
      return listedSilence(ruleOf(after), after, nowMs);
    },
    /** Ends it now. False: no such silence, or it has ended. */
    expire: async (id: string, author: Actor): Promise<boolean> => {
      const nowMs = clock.nowMs();
      const isExpired = await store.transaction(async ({ silences, audit }) => {
        const silence = await silences.byId(id);
        if (silence === null || !(await silences.expire(id, nowMs))) return false;
        await audit.append({ atMs: nowMs, actor: author, action: "silence.end", slug: silence.slug, subject: id });
        return true;
      });
      if (isExpired) {
        logger.info({ silence: id }, "silence ended");
        onChange();
      }
      return isExpired;
    },
    /** Returns the silences of the configuration, then the others that have not ended. */
    list: async (): Promise<readonly ListedSilence[]> => {
      const nowMs = clock.nowMs();
      const stored = await store.silences.endingAfter(nowMs);
      return [
        ...settings().silences.map((rule) => listedSilence(rule, null, nowMs)),
        ...stored.map((silence) => listedSilence(ruleOf(silence), silence, nowMs)),
      ];
    },
  };
}

function problemsOf({ startsAtMs, endsAtMs, comment }: NewSilence, nowMs: number): string[] {
  return [
    ...(comment.trim() === "" ? ["comment must say why"] : []),
    ...(endsAtMs <= startsAtMs ? ["endsAt must be after startsAt"] : []),
    ...(endsAtMs <= nowMs ? ["endsAt has passed"] : []),
    ...(endsAtMs - Math.max(startsAtMs, nowMs) > longestSilenceMs ? ["a silence lasts at most 30 days"] : []),
  ];
}

function refuse(issues: readonly string[]): void {
  if (issues.length > 0) throw new FlatlineError("invalid_data", issues.join("; "), { issues });
}

/** A silence as lists show it. */
export type ListedSilence = Readonly<ReturnType<typeof listedSilence>>;

/** Returns a silence with its state. `stored` and most fields are null for the configuration's. */
export function listedSilence(rule: SilenceRule, stored: StoredSilence | null, nowMs: number) {
  const nextMs = nextChangeAtMs(rule, nowMs);
  const waiting = nextMs === null ? ("expired" as const) : ("pending" as const);
  return {
    id: stored?.id ?? null,
    origin: stored === null ? ("configuration" as const) : ("runtime" as const),
    state: windowAt(rule, nowMs) === null ? waiting : ("active" as const),
    rule,
    createdBy: stored?.createdBy ?? null,
    note: stored?.note ?? null,
    createdAtMs: stored?.createdAtMs ?? null,
    /** When its state changes next; null: never. */
    nextChangeAtMs: nextMs,
  };
}

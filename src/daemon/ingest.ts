import { excerpt } from "../base/outside-text.ts";
import { FlatlineError } from "../base/errors.ts";
import { holdHeap, releaseHeap } from "../base/heap-growth.ts";
import { matchesText } from "../base/text-pattern.ts";
import { createRest, eventLoopTurn, minuteMs, secondMs } from "../base/time.ts";
import { refusals } from "../contract/refusals.ts";
import type { Added } from "../store/events/add.ts";
import { addAnswers, noAnswer, type ImportAnswer, type ImportTarget } from "../store/events/import.ts";
import type { ImportRow } from "../store/events/imports.ts";
import { plainLayout, usualTimes, type EventLayout } from "../store/events/layout.ts";
import { inputOfBody, readAll, RefusedEvents } from "../store/events/read.ts";
import { otherStatuses, type LivenessEvent } from "../store/events/rules.ts";
import type { EventAuthor, EventsPort } from "../web/api/event-routes.ts";
import type { RefusedPosts } from "../words/incoming.ts";
import type { Ground } from "./ground.ts";

export type Ingest = Awaited<ReturnType<typeof openIngest>>;

/** An import counts as running for so long after its last rows (CONTRACT 10). */
const freshMs = 30 * secondMs;
/** Posts count as refused for so long after the last refused one. */
const refusedForMs = 5 * minuteMs;
/** Takes any time, because the importing command has checked the rows. */
const importLayout: EventLayout = { ...plainLayout, hasNumbers: true };

/** Creates the intake of events from posts and imports; it takes one body after the other. */
export async function openIngest({ store, clock, logger, metrics, door, bus }: Ground) {
  const active = new Map((await store.imports.list()).map((row) => [row.id, activeOf(row)]));
  const stopping = new AbortController();
  const { signal } = stopping;
  let previous: Promise<unknown> = Promise.resolve();
  let refusing: RefusedPosts | null = null;
  let unlogged = 0;
  let loggedAtMs = -Infinity;
  let failedAtMs = -Infinity;

  const onChange = (): void => void bus.emit("stored", "else");
  const areRefused = (): RefusedPosts | null =>
    refusing !== null && clock.nowMs() - refusing.lastAtMs < refusedForMs ? refusing : null;

  /** Logs at most once a minute: a log shipper sends the same post again and again. */
  function noteRefused({ refused, issues, message }: RefusedEvents): void {
    for (const reason of refusals) metrics.eventsRefused(reason, refused[reason] ?? 0);
    const example = issues[0] ?? message;
    const before = areRefused();
    const lastAtMs = clock.nowMs();
    refusing = { posts: (before?.posts ?? 0) + 1, sinceMs: before?.sinceMs ?? lastAtMs, lastAtMs, example };
    onChange();
    unlogged++;
    const nowMs = clock.monotonicMs();
    if (nowMs - loggedAtMs < minuteMs) return;
    logger.warn({ posts: unlogged, refused, example }, "posts of events are refused");
    loggedAtMs = nowMs;
    unlogged = 0;
  }

  /** Logs a failure of the store: a sender may not report it. */
  function noteFailed(error: unknown): never {
    const isOurs = !(error instanceof FlatlineError) || error.code === "store_unusable";
    if (isOurs && clock.monotonicMs() - failedAtMs >= minuteMs) {
      failedAtMs = clock.monotonicMs();
      logger.error({ err: error }, "events could not be stored");
    }
    throw error;
  }

  function inTurn<Result>(work: (rest: () => Promise<void>) => Promise<Result>): Promise<Result> {
    const turn = previous.then(async () => {
      if (signal.aborted) throw new FlatlineError("unavailable", "flatline is stopping");
      // A command that imports does nothing else meanwhile.
      if (door !== undefined) return work(eventLoopTurn);
      holdHeap();
      try {
        return await work(createRest(clock));
      } finally {
        releaseHeap();
      }
    });
    previous = turn.catch(() => undefined);
    return turn;
  }

  async function add(events: readonly LivenessEvent[]): Promise<Added> {
    const added = await inTurn((rest) => store.events.add(events, { signal, rest })).catch(noteFailed);
    for (const [status, count] of Object.entries(added.storedByStatus)) metrics.eventsIngested(status, count);
    if (added.conflicts > 0)
      logger.warn(
        { conflicts: added.conflicts, some: added.someConflicts },
        "events have ids that are stored with other content: they were left out",
      );
    return added;
  }

  function eventsOf(body: Buffer, layout: () => EventLayout, { organizations }: EventAuthor): Promise<LivenessEvent[]> {
    return inTurn(async (rest) => {
      const events: LivenessEvent[] = [];
      await readAll([inputOfBody(body, layout())], (event) => void events.push(event), signal, rest);
      refuseForeignSlugs(new Set(events.map(({ slug }) => slug)), organizations);
      return events;
    });
  }

  const importOf = (id: number): ActiveImport => {
    const found = active.get(id);
    if (found === undefined) throw new FlatlineError("not_found", `no import ${id} is under way: run the import again`);
    return found;
  };

  async function addRows(id: number, events: readonly LivenessEvent[]): Promise<ImportAnswer> {
    const { storedByStatus: _stored, ...answer } = await add(events);
    const { totals, ...row } = importOf(id);
    const renewedAtMs = clock.nowMs();
    active.set(id, {
      ...row,
      received: row.received + answer.received,
      renewedAtMs,
      totals: addAnswers(totals, answer),
    });
    await store.imports.renew(id, answer.received, renewedAtMs);
    return answer;
  }

  const isRunning = ({ renewedAtMs }: ImportRow): boolean => Math.abs(clock.nowMs() - renewedAtMs) < freshMs;

  const port: EventsPort = {
    ingest: async (body, author) => {
      try {
        const layout = () => ({ ...plainLayout, times: usualTimes(clock.nowMs()) });
        const events = await eventsOf(body, layout, author);
        const { storedByStatus: _stored, someConflicts: _some, ...answer } = await add(events);
        const byStatus = Map.groupBy(events, ({ status }) => status);
        const counts = new Map([...byStatus].map(([status, { length }]) => [status, length]));
        return { ...answer, otherStatuses: otherStatuses(counts) };
      } catch (error) {
        if (error instanceof RefusedEvents) noteRefused(error);
        throw error;
      }
    },
    begin: async (plan, { organizations }) => {
      refuseForeignSlugs(plan.slugs, organizations);
      const row = await store.imports.begin(plan, clock.nowMs());
      for (const { id, name } of active.values()) if (name === plan.name) active.delete(id);
      active.set(row.id, activeOf(row));
      onChange();
      return row.id;
    },
    addBody: async (id, body, author) => {
      importOf(id);
      return addRows(id, await eventsOf(body, () => importLayout, author));
    },
    end: async (id, { actor }) => {
      const { name: subject, slugs, received, totals } = importOf(id);
      const { stored, duplicates, conflicts } = totals;
      const detail = { received, stored, duplicates, conflicts, slugs: slugs.length };
      await store.transaction(async ({ imports, audit }) => {
        await imports.end(id);
        await audit.append({ atMs: clock.nowMs(), actor, action: "import.events", slug: null, subject, detail });
      });
      active.delete(id);
      onChange();
    },
    refused: areRefused,
    imports: () => [...active.values()].map((row) => ({ ...row, isRunning: isRunning(row) })),
  };

  return {
    ...port,
    /** Whether events of an organization are being imported, so that its counts are not complete. */
    isImporting: (slug: string): boolean => [...active.values()].some((row) => isRunning(row) && row.slugSet.has(slug)),
    /** Returns the target of an import in this process, whose rows need no serialization. */
    target: (author: EventAuthor): ImportTarget => ({
      begin: (plan) => port.begin(plan, author),
      add: addRows,
      end: (id) => port.end(id, author),
    }),
    /** Aborts the current body; its sender has to send it again. */
    close: async (): Promise<void> => {
      stopping.abort();
      await previous;
    },
  };
}

interface ActiveImport extends ImportRow {
  readonly slugSet: ReadonlySet<string>;
  /** The totals of the rows that this process took. */
  readonly totals: ImportAnswer;
}

function activeOf(row: ImportRow): ActiveImport {
  return { ...row, slugSet: new Set(row.slugs), totals: noAnswer };
}

/** @throws forbidden when no pattern matches one of the slugs */
function refuseForeignSlugs(slugs: Iterable<string>, organizations: readonly string[] | null): void {
  if (organizations === null) return;
  for (const slug of slugs) {
    if (organizations.some((pattern) => matchesText(pattern, slug))) continue;
    const message =
      `the token is not for the organization ${excerpt(slug)}, ` +
      "of which there are events in the body: nothing was stored";
    throw new FlatlineError("forbidden", message);
  }
}

import type { ServerResponse } from "node:http";

import { minuteMs, secondMs, type Clock } from "../../base/time.ts";
import { escapeUnseen } from "../../base/unseen-text.ts";
import { scopeOf, type Identity } from "../access/identity.ts";
import { isSameAccess } from "../access/admission.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { PageModel } from "./overview/overview-model.ts";

/** Sends the overview's changes to every open page; reads nothing while no page is open. */
export interface PageEvents {
  /** Whether there are as many readers as may be. */
  isFull(): boolean;
  /**
   * Keeps the answer open and writes to it until the reader goes, or until a reload changes who may read; to a proxy's user and
   * to a session for 15 minutes.
   */
  add(response: ServerResponse, identity: Identity | null): void;
  close(): void;
}

export interface PageEventsOptions {
  readonly clock: Clock;
  /** Who may read now. */
  readonly access: () => AccessSettings;
  readonly mostReaders: number;
  /** What `identity` may see. */
  readonly read: (identity: Identity | null) => Promise<PageModel>;
  readonly subscribe: (listener: () => void) => () => void;
  readonly onError: (error: unknown) => void;
}

// ART: changes are drawn at most every 2 s; changes within are sent together.
const togetherMs = 2 * secondMs;
// Reading a fleet of thousands takes a tenth of a second or more: at most this part of the time goes into it, 1 in 20.
const mostShare = 20;
// A silent connection looks like a dead one; many proxies cut after 30 s or 60 s.
const heartbeatMs = 10 * secondMs;
// What becomes late or stale does so without any change: it is looked for this often.
const lookAnywayMs = 30 * secondMs;
// A reader that takes nothing for so long is gone, or had better come again.
const mostBufferedBytes = 4 * 1_024 * 1_024;

// Only the proxy knows when a user logs out, and another replica may have ended a session: the browser comes again by itself,
// and is asked who it is.
const knownUserMs = 15 * minuteMs;

interface Reader {
  readonly identity: Identity | null;
  /** Instant of the monotonic clock. */
  readonly endsAtMs: number;
}

/** No page is open yet. */
export function createPageEvents(options: PageEventsOptions): PageEvents {
  const { clock, access, read, subscribe, onError } = options;
  const readers = new Map<ServerResponse, Reader>();
  /** By which the readers were let in. */
  let admitted = access();
  /** The rows as they were sent last, by what their readers may see. */
  let last = new Map<string, ReadonlyMap<string, string>>();
  let unsubscribe: (() => void) | null = null;
  let stop = new AbortController();
  let isDirty = false;
  let isRunning = false;

  function begin(): void {
    stop = new AbortController();
    unsubscribe = subscribe(() => {
      endUnlessAdmitted();
      isDirty = true;
    });
    // What the first reader's page shows may be older than this.
    isDirty = true;
    last = new Map();
    if (!isRunning) void loop();
  }

  function end(): void {
    unsubscribe?.();
    unsubscribe = null;
    stop.abort();
  }

  /** They come again at once, and are asked for what is asked for now. */
  function endUnlessAdmitted(): void {
    const now = access();
    if (!isSameAccess(admitted, now)) endReaders();
    admitted = now;
  }

  function endReaders(): void {
    end();
    for (const reader of readers.keys()) endReader(reader);
    readers.clear();
  }

  function endReader(reader: ServerResponse): void {
    // One that takes nothing would never come to its end.
    if (reader.writableLength > 0) reader.destroy();
    else reader.end();
  }

  function endKnownUsers(): void {
    const nowMs = clock.monotonicMs();
    for (const [reader, { endsAtMs }] of readers) {
      if (endsAtMs > nowMs) continue;
      readers.delete(reader);
      endReader(reader);
    }
    if (readers.size === 0) end();
  }

  async function loop(): Promise<void> {
    isRunning = true;
    let quietMs = 0;
    let waitMs = togetherMs;
    let unreadMs = 0;
    while (readers.size > 0) {
      if (isDirty) {
        isDirty = false;
        const startedMs = clock.monotonicMs();
        await tell();
        waitMs = Math.max(togetherMs, mostShare * (clock.monotonicMs() - startedMs));
        quietMs = 0;
        unreadMs = 0;
      } else if (quietMs >= heartbeatMs) {
        quietMs = 0;
        // An event, not a comment: the page must see that the line is alive.
        send(readers.keys(), `event: beat\ndata: ${clock.nowMs()}\n\n: heartbeat\n\n`);
      }
      await clock.sleep(waitMs, stop.signal);
      endKnownUsers();
      quietMs += waitMs;
      unreadMs += waitMs;
      if (unreadMs >= lookAnywayMs) isDirty = true;
    }
    isRunning = false;
  }

  async function tell(): Promise<void> {
    try {
      const sent = new Map<string, ReadonlyMap<string, string>>();
      for (const [scope, group] of Map.groupBy(readers, ([, { identity }]) => scopeOf(identity))) {
        const model = await read(group[0]?.[1].identity ?? null);
        // Some have gone meanwhile, or a reload has ended their answers: a write to one of those would end the process.
        const to = group.map(([reader]) => reader).filter((reader) => readers.has(reader));
        sent.set(scope, sendChange(to, model, last.get(scope) ?? new Map<string, string>()));
      }
      last = sent;
    } catch (error) {
      isDirty = true;
      onError(error);
    }
  }

  /** Sends what differs from `known`, and answers the rows as they are now. */
  function sendChange(
    to: Iterable<ServerResponse>,
    model: PageModel,
    known: ReadonlyMap<string, string>,
  ): ReadonlyMap<string, string> {
    const next = new Map(model.rows.map((row) => [row.slug, JSON.stringify(row)]));
    const isFirst = known.size === 0;
    const rows = isFirst ? [] : model.rows.filter(({ slug }) => known.get(slug) !== next.get(slug));
    const gone = [...known.keys()].filter((slug) => !next.has(slug));
    const { nowMs, fleet, storeProblem, deadLetters, queued, unattended } = model;
    const change = { nowMs, rows, gone, fleet, storeProblem, deadLetters, queued, unattended };
    send(to, `event: change\ndata: ${escapeUnseen(JSON.stringify(change))}\n\n`);
    return next;
  }

  function send(to: Iterable<ServerResponse>, text: string): void {
    for (const reader of to) {
      if (reader.writableLength > mostBufferedBytes) reader.destroy();
      else reader.write(text);
    }
  }

  return {
    isFull: () => readers.size >= options.mostReaders,
    add: (response, identity) => {
      endUnlessAdmitted();
      const endsAtMs = identity === null || identity.via === "token" ? Infinity : clock.monotonicMs() + knownUserMs;
      readers.set(response, { identity, endsAtMs });
      response.on("close", () => {
        if (readers.delete(response) && readers.size === 0) end();
      });
      response.write(`retry: 2000\nevent: hello\ndata: ${clock.nowMs()}\n\n`);
      if (readers.size === 1) begin();
    },
    close: endReaders,
  };
}

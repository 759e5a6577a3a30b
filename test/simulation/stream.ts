import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { createSystemClock, dayMs, hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import { importEvents } from "../../src/store/events/import.ts";
import { storeTarget } from "../../src/store/events/imports.ts";
import { openStore } from "../../src/store/open.ts";
import type { VirtualClock } from "../support/virtual-clock.ts";
import type { Chance } from "./chance.ts";
import { slugs } from "./fleet.ts";
import type { Answer, Life } from "./life.ts";
import type { Spike } from "./platform.ts";

/** One row of the liveness record, as it is sent. */
export interface SentEvent {
  readonly slug: string;
  readonly at: string;
  readonly status: string;
  readonly assetType: string;
  /** Absent in most: what is shown of assets reads all events that name one, again and again. */
  readonly asset?: string;
  /** null: it is known by what it says. */
  readonly id: string | null;
  readonly count: number;
}

/** What is sent together. It is sent again, the same, until it was taken. */
export interface Batch {
  readonly events: readonly SentEvent[];
  readonly body: string;
  readonly way: "post" | "import";
}

export interface StreamOptions {
  readonly chance: Chance;
  readonly startMs: number;
  readonly endMs: number;
  readonly spikes: ReadonlyMap<string, readonly Spike[]>;
}

/** The longest window and baseline, and more. */
export const historyMs = 3 * dayMs;
const lateMs = 30 * hourMs;
// Of so many rows the journal of changes names only the organizations: what is in memory has to be loaded again.
const largeRows = 17_000;
const importsPerLargeOne = 30;
/** Nothing is ever seen of it before. */
const silentUntil = { slug: slugs[16] ?? "", afterMs: 10 * hourMs };

/** The events of the simulated platform in the order of sending: some late, some twice, some in the future. */
export function writeEvents({
  chance,
  startMs,
  endMs,
  spikes,
}: StreamOptions): { sentAtMs: number; event: SentEvent }[] {
  const sent = slugs.flatMap((slug) => {
    const own = chance.of(slug);
    const beginsAtMs = slug === silentUntil.slug ? startMs + silentUntil.afterMs : startMs - historyMs;
    const instants: number[] = [];
    const meanMs = own.pick([20, 45, 90]) * minuteMs;
    for (let atMs = beginsAtMs; atMs < endMs; atMs += Math.ceil(-Math.log(1 - own.next()) * meanMs))
      instants.push(atMs);
    for (const { fromMs, untilMs, severity } of spikes.get(slug) ?? []) {
      const lastsMs = Math.min(untilMs - fromMs, hourMs);
      const deaths = severity === "fail" ? own.between(30, 70) : own.between(8, 20);
      for (let index = 0; index < deaths; index++) instants.push(fromMs + own.between(0, lastsMs));
    }
    return instants.flatMap((atMs, index) => sendings(own, slug, `${slug}-${index}`, atMs));
  });
  return sent.toSorted((left, right) => left.sentAtMs - right.sentAtMs);
}

function sendings(
  chance: Chance,
  slug: string,
  id: string,
  exactAtMs: number,
): { sentAtMs: number; event: SentEvent }[] {
  // On a run's instant: at the edge of its window, or of its baseline.
  const atMs = chance.isTrue(0.3) ? Math.ceil(exactAtMs / (5 * minuteMs)) * 5 * minuteMs : exactAtMs;
  const event: SentEvent = {
    slug,
    at: new Date(atMs).toISOString(),
    status: chance.isTrue(0.9) ? "DETECTED_AS_DEAD" : chance.pick(["DETECTED_AS_ALIVE", "UNSURE"]),
    assetType: chance.pick(["URL", "PAGE", "EMAIL"]),
    ...(chance.isTrue(0.25) ? { asset: `https://${id}.example/login` } : {}),
    id: chance.isTrue(0.9) ? id : null,
    count: chance.isTrue(0.95) ? 1 : chance.between(0, 4),
  };
  const delayMs = chance.isTrue(0.05) ? chance.between(minuteMs, lateMs) : chance.between(-2 * minuteMs, 2 * minuteMs);
  const sentAtMs = atMs + delayMs;
  if (event.id === null || !chance.isTrue(0.08)) return [{ sentAtMs, event }];
  // The same one again, or another under its id: the first one holds.
  const again = chance.isTrue(0.5)
    ? event
    : { ...event, count: event.count + 1, at: new Date(atMs - secondMs).toISOString() };
  return [
    { sentAtMs, event },
    { sentAtMs: sentAtMs + chance.between(0, 2 * hourMs), event: again },
  ];
}

/** Sends the events to the daemon: one batch after the other, each until it was taken. */
export class EventStream {
  readonly #events: readonly { sentAtMs: number; event: SentEvent }[];
  readonly #chance: Chance;
  readonly #clock: VirtualClock;
  readonly #folder: string;
  readonly #onBatch: (batch: Batch, state: "sent" | "taken") => void;
  #next = 0;
  #imports = 0;
  #batch: Batch | null = null;
  #isUnderWay = false;
  #nextAtMs = 0;

  constructor(options: {
    readonly events: readonly { sentAtMs: number; event: SentEvent }[];
    readonly chance: Chance;
    readonly clock: VirtualClock;
    /** Of the store, and of the files that are imported. */
    readonly folder: string;
    readonly onBatch: (batch: Batch, state: "sent" | "taken") => void;
  }) {
    this.#events = options.events;
    this.#chance = options.chance;
    this.#clock = options.clock;
    this.#folder = options.folder;
    this.#onBatch = options.onBatch;
  }

  /** Imports what was before `startMs`. */
  async begin(startMs: number): Promise<void> {
    this.#batch = this.#take(startMs, "import");
    await this.#importAlone(this.#batch);
  }

  /** Sends what is due by `trueMs`; what was refused or lost is sent again with the next call. */
  async send(trueMs: number, ask: (request: Parameters<Life["ask"]>[0]) => Promise<Answer>): Promise<void> {
    if (this.#isUnderWay) return;
    if (this.#batch === null) {
      if (trueMs < this.#nextAtMs) return;
      this.#nextAtMs = trueMs + this.#chance.between(1, 9) * minuteMs;
      this.#batch = this.#take(trueMs, this.#chance.isTrue(0.1) ? "import" : "post");
      if (this.#batch.events.length === 0) this.#batch = null;
    }
    const batch = this.#batch;
    if (batch === null) return;
    this.#isUnderWay = true;
    // It may wait for a store that is busy, for which time has to pass.
    const ended = batch.way === "import" ? this.#import(batch, ask) : this.#post(batch, ask);
    void ended.finally(() => (this.#isUnderWay = false));
  }

  #take(trueMs: number, way: Batch["way"]): Batch {
    const events: SentEvent[] = [];
    for (; (this.#events[this.#next]?.sentAtMs ?? Infinity) <= trueMs; this.#next++) {
      const event = this.#events[this.#next]?.event;
      if (event !== undefined) events.push(event);
    }
    const rows = events.map(({ id, ...event }) => `${JSON.stringify(id === null ? event : { ...event, id })}\n`);
    if (way === "import" && this.#imports++ % importsPerLargeOne === 2) rows.push(...aliveRows(trueMs));
    const body = rows.join("");
    return { events, body, way };
  }

  async #post(batch: Batch, ask: (request: Parameters<Life["ask"]>[0]) => Promise<Answer>): Promise<void> {
    this.#onBatch(batch, "sent");
    const { status } = await ask({ method: "POST", url: "/api/v1/events", body: batch.body });
    // Some clients did not hear the answer, and post once more.
    if (status === 200 && !this.#chance.isTrue(0.1)) this.#taken(batch);
  }

  /** As `import events` asks the daemon; who is not answered begins again. */
  async #import(batch: Batch, ask: (request: Parameters<Life["ask"]>[0]) => Promise<Answer>): Promise<void> {
    if (batch.events.length === 0) return this.#taken(batch);
    this.#onBatch(batch, "sent");
    const slugs = [...new Set(batch.events.map(({ slug }) => slug))];
    const begin = { name: "events.ndjson", slugs, rows: batch.body.split("\n").length };
    const begun = await ask({ method: "POST", url: "/api/v1/imports", body: begin });
    if (!isDone(begun)) return;
    const { id } = JSON.parse(begun.body) as { readonly id: number };
    if (!isDone(await ask({ method: "POST", url: `/api/v1/imports/${id}/rows`, body: batch.body }))) return;
    if (isDone(await ask({ method: "POST", url: `/api/v1/imports/${id}/end` }))) this.#taken(batch);
  }

  /** Imports what was before there is a daemon. */
  async #importAlone(batch: Batch): Promise<void> {
    const path = join(this.#folder, "before.ndjson");
    this.#onBatch(batch, "sent");
    await writeFile(path, batch.body);
    const store = await openStore({ path: join(this.#folder, "flatline.db"), clock: createSystemClock() });
    await importEvents({
      target: storeTarget(store, this.#clock),
      files: [{ path, name: "events.ndjson" }],
      rebaseTo: null,
      signal: new AbortController().signal,
    });
    await store.close();
    this.#taken(batch);
  }

  #taken(batch: Batch): void {
    this.#batch = null;
    this.#onBatch(batch, "taken");
  }
}

/** Events of the last hours that are no deaths, so they change no count. */
function aliveRows(nowMs: number): string[] {
  return Array.from({ length: largeRows }, (_, index) => {
    const slug = slugs[index % 16] ?? slugs[0];
    const at = new Date(nowMs - index * secondMs).toISOString();
    return `${JSON.stringify({ slug, at, status: "DETECTED_AS_ALIVE" })}\n`;
  });
}

function isDone({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

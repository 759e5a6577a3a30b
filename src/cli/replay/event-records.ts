import { EventRecorder, type EventRecord } from "../../backtest/event-record.ts";
import { FlatlineError } from "../../base/errors.ts";
import { EqualEvents, keyOf } from "../../store/events/add.ts";
import type { EventStore } from "../../store/events/events.ts";
import type { EventLayout } from "../../store/events/layout.ts";
import { inputOfFile, readAll, type EventFile, type EventInput } from "../../store/events/read.ts";
import type { LivenessEvent } from "../../store/events/rules.ts";

export interface ReadRecordsOptions {
  readonly signal: AbortSignal;
  /** Called from time to time with the number of events read. */
  readonly onProgress: (rows: number) => void;
}

export interface ReadFilesOptions extends ReadRecordsOptions {
  readonly files: readonly EventFile[];
  /** How they are written [as documented]. */
  readonly layout?: EventLayout;
}

/**
 * Reads files of liveness events (CONTRACT 10) without a store, grouped by slug for a replay. Of events with the same id the
 * first one counts, as in an import.
 * @throws invalid_data with the bad lines, no_input, too_large, unavailable when stopped
 */
export async function readEventFiles(options: ReadFilesOptions): Promise<ReadonlyMap<string, EventRecord>> {
  const { files, layout, signal, onProgress } = options;
  const recorders = new Map<string, EventRecorder>();
  const types = new Map<string | null, number>([[null, 0]]);
  const seen = new Seen();
  let rows = 0;

  const record = (event: LivenessEvent): void => {
    rows++;
    if (!seen.isFirst(event)) return;
    const { slug, assetType, atMs, status, count, asset } = event;
    const recorder = recorders.get(slug) ?? new EventRecorder(slug);
    recorders.set(slug, recorder);
    const typeId = types.get(assetType) ?? types.size;
    types.set(assetType, typeId);
    recorder.add({ atMs, status, count, typeId, asset });
  };

  const inputs: EventInput[] = [];
  try {
    for (const file of files) inputs.push(await inputOfFile(file, signal, layout));
    await readAll(inputs, record, signal, () => onProgress(rows));
  } finally {
    for (const input of inputs) await input.close();
  }
  return new Map([...recorders].map(([slug, recorder]) => [slug, recorder.finish()]));
}

/** Reads all stored events of one organization. @throws unavailable when stopped, store_* */
export async function readStoredRecord(
  events: Pick<EventStore, "history">,
  slug: string,
  { signal, onProgress }: ReadRecordsOptions,
): Promise<EventRecord> {
  const recorder = new EventRecorder(slug);
  for await (const page of events.history(slug)) {
    if (signal.aborted) throw new FlatlineError("unavailable", "stopped while reading events");
    for (const event of page) recorder.add(event);
    onProgress(recorder.length);
  }
  return recorder.finish();
}

/** What events are known by: an event counts once, as in a store. */
class Seen {
  readonly #keys = new Map<string, Set<string>>();
  readonly #equal = new EqualEvents();

  isFirst(event: LivenessEvent): boolean {
    const keys = this.#keys.get(event.slug) ?? new Set<string>();
    this.#keys.set(event.slug, keys);
    const before = keys.size;
    return keys.add(keyOf({ ...event, number: this.#equal.numberOf(event) })).size > before;
  }
}

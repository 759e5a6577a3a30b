import { EventRecorder, type EventRecord } from "../../backtest/event-record.ts";
import { FlatlineError } from "../../base/errors.ts";
import { attributesText, EqualEvents, keyOf } from "../../store/events/add.ts";
import type { EventStore } from "../../store/events/events.ts";
import type { EventLayout } from "../../store/events/layout.ts";
import { inputOfFile, readAll, type EventFile, type EventInput } from "../../store/events/read.ts";
import type { LivenessEvent } from "../../store/events/rules.ts";

interface ReadRecordsOptions {
  readonly signal: AbortSignal;
  /** Called from time to time with the number of events so far. */
  readonly onProgress: (rows: number) => void;
}

/**
 * Reads files of liveness events (CONTRACT 10) by slug, for a replay. Equal events count once, as in an import.
 * `byStatus` gets the number of events by status.
 * @throws invalid_data with the bad lines, no_input, too_large, unavailable when stopped
 */
export async function readEventFiles({
  files,
  layout,
  isAsked = () => true,
  byStatus = new Map(),
  signal,
  onProgress,
}: ReadRecordsOptions & {
  readonly files: readonly EventFile[];
  readonly layout?: EventLayout;
  /** Whether events of a slug are kept [all]. */
  readonly isAsked?: (slug: string) => boolean;
  readonly byStatus?: Map<string, number>;
}): Promise<ReadonlyMap<string, EventRecord>> {
  const bySlug = new Map<string, { readonly recorder: EventRecorder; readonly known: Set<string> }>();
  const types = new Map<string | null, number>([[null, 0]]);
  const equal = new EqualEvents();
  let rows = 0;

  const record = (event: LivenessEvent): void => {
    rows++;
    const { slug, assetType, atMs, status, count, asset } = event;
    if (!isAsked(slug)) return;
    const { recorder, known } = bySlug.get(slug) ?? { recorder: new EventRecorder(slug), known: new Set() };
    bySlug.set(slug, { recorder, known });
    const before = known.size;
    if (known.add(keyOf({ ...event, number: equal.numberOf(event) })).size === before) return;
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    const typeId = types.get(assetType) ?? types.size;
    types.set(assetType, typeId);
    recorder.add({ atMs, status, count, typeId, asset, attributes: attributesText(event) });
  };

  const inputs: EventInput[] = [];
  try {
    for (const file of files) inputs.push(await inputOfFile(file, signal, layout));
    await readAll(inputs, record, signal, () => onProgress(rows));
  } finally {
    for (const input of inputs) await input.close();
  }
  return new Map([...bySlug].map(([slug, { recorder }]) => [slug, recorder.finish()]));
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

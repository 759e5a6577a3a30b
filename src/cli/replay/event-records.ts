import { resolve } from "node:path";
import { EventRecorder, type EventRecord } from "../../backtest/event-record.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { EventStore } from "../../store/events/events.ts";
import type { EventLayout } from "../../store/events/layout.ts";
import { inputOfFile, mostInputBytes, mostIssues, readInput, type EventFile } from "../../store/events/read.ts";
import { createEventNames, type EventRow } from "../../store/events/rules.ts";

export interface ReadRecordsOptions {
  readonly signal: AbortSignal;
  /** Called from time to time with the number of events read. */
  readonly onProgress: (rows: number) => void;
}

export interface ReadFilesOptions extends ReadRecordsOptions {
  /** `-` is standard input. */
  readonly files: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
  readonly cwd: string;
  /** How they are written [as documented]. */
  readonly layout?: EventLayout;
}

/**
 * Reads files of liveness events (CONTRACT 10) without a store, grouped by slug for a replay. Of events with the same id the
 * first one counts, as in an import.
 * @throws invalid_data with the bad lines, no_input, too_large, usage, unavailable when stopped
 */
export async function readEventFiles(options: ReadFilesOptions): Promise<ReadonlyMap<string, EventRecord>> {
  const { files, stdin, cwd, layout, signal, onProgress } = options;
  if (files.filter((file) => file === "-").length > 1)
    throw new FlatlineError("usage", "standard input (-) can be read only once");
  const names = createEventNames();
  const recorders = new Map<number, EventRecorder>();
  const ids = new Map<number, Set<string>>();
  const issues: string[] = [];
  let rows = 0;
  let bytes = 0;

  const row = (event: EventRow): void => {
    rows++;
    if (event.id !== null && !isFirst(event.slug, event.id, ids)) return;
    let recorder = recorders.get(event.slug);
    if (recorder === undefined) {
      recorder = new EventRecorder(names.slugs.names[event.slug] ?? "");
      recorders.set(event.slug, recorder);
    }
    recorder.add({
      atMs: event.atMs,
      status: names.statuses.names[event.status] ?? "",
      count: event.count,
      typeId: event.assetType + 1,
      asset: event.asset,
    });
  };

  for (const file of files) {
    const given: EventFile =
      file === "-" ? { name: "standard input", stream: stdin } : { name: file, path: resolve(cwd, file) };
    const input = await inputOfFile(given, signal, layout);
    try {
      const problem = (place: string, reason: string): void => {
        if (issues.length < mostIssues) issues.push(`${place}: ${reason}`);
      };
      const reading = readInput(input, { names, sink: { row, problem }, maxBytes: mostInputBytes - bytes });
      let step = await reading.next();
      for (; step.done !== true && issues.length < mostIssues; step = await reading.next()) {
        if (signal.aborted) throw new FlatlineError("unavailable", "stopped while reading events");
        onProgress(rows);
      }
      if (step.done === true) bytes += step.value.bytes;
      else await reading.return({ sha256: "", bytes: 0 });
    } finally {
      input.stream.destroy();
    }
  }
  if (issues.length > 0) {
    const count = issues.length < mostIssues ? issues.length : `${mostIssues} or more`;
    throw new FlatlineError("invalid_data", `${count} bad ${issues.length === 1 ? "line" : "lines"}`, { issues });
  }
  return new Map([...recorders].map(([slug, recorder]) => [names.slugs.names[slug] ?? "", recorder.finish()]));
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

function isFirst(slug: number, id: string, ids: Map<number, Set<string>>): boolean {
  const known = ids.get(slug) ?? new Set<string>();
  ids.set(slug, known);
  if (known.has(id)) return false;
  known.add(id);
  return true;
}

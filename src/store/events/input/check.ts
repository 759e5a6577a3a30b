import { FlatlineError } from "../../../base/errors.ts";
import { mostInputBytes, readInput, type EventInput } from "./input.ts";
import { createEventNames, type EventNames, type EventRow } from "./rows.ts";

export interface CheckedFile {
  readonly name: string;
  readonly sha256: string;
  readonly rowsWithoutId: number;
}

/** The result of checking the input. */
export interface CheckedInputs {
  readonly names: EventNames;
  readonly files: readonly CheckedFile[];
  readonly rows: number;
  /** Over all events; Infinity and -Infinity without any. */
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The first event of each slug, by its index in names. */
  readonly slugFirstAtMs: readonly number[];
}

// Enough to recognize the problem of a file.
const mostIssues = 20;

/**
 * Reads all inputs and checks each line; keeps only the names.
 * @throws invalid_data with up to 20 bad lines, no_input, too_large, unavailable when the signal aborts
 */
export async function checkInputs(
  inputs: readonly EventInput[],
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<CheckedInputs> {
  const names = createEventNames();
  const files: CheckedFile[] = [];
  const slugFirstAtMs: number[] = [];
  const issues: string[] = [];
  let rows = 0;
  let rowsWithoutId = 0;
  let firstAtMs = Infinity;
  let lastAtMs = -Infinity;
  let bytes = 0;

  const row = (row: EventRow): void => {
    rows++;
    if (row.idEnd === row.idStart) rowsWithoutId++;
    if (row.atMs < firstAtMs) firstAtMs = row.atMs;
    if (row.atMs > lastAtMs) lastAtMs = row.atMs;
    const known = slugFirstAtMs[row.slug];
    if (known === undefined) {
      while (slugFirstAtMs.length <= row.slug) slugFirstAtMs.push(Infinity);
      slugFirstAtMs[row.slug] = row.atMs;
    } else if (row.atMs < known) slugFirstAtMs[row.slug] = row.atMs;
  };

  for (const input of inputs) {
    const problem = (line: number, reason: string): void => {
      if (issues.length < mostIssues) issues.push(`${input.locate(line)}: ${reason}`);
      else if (issues.length === mostIssues) issues.push("and maybe more");
    };
    const before = rowsWithoutId;
    const reading = readInput(input, { names, sink: { row, problem }, maxBytes: mostInputBytes - bytes });
    let step = await reading.next();
    for (; step.done !== true && issues.length <= mostIssues; step = await reading.next()) {
      if (signal.aborted) throw stopped();
      onRows(rows);
    }
    if (step.done !== true) {
      await reading.return({ sha256: "", bytes: 0 });
      break;
    }
    bytes += step.value.bytes;
    files.push({ name: input.name, sha256: step.value.sha256, rowsWithoutId: rowsWithoutId - before });
  }
  if (issues.length > 0) {
    const count = issues.length > mostIssues ? `more than ${mostIssues}` : String(issues.length);
    const noun = `${inputs.some(({ allowsArray }) => allowsArray) ? "event" : "line"}${issues.length === 1 ? "" : "s"}`;
    throw new FlatlineError("invalid_data", `nothing was stored: ${count} bad ${noun}`, { issues });
  }
  return { names, files, rows, firstAtMs, lastAtMs, slugFirstAtMs };
}

/** Returns the error of an import whose signal has aborted. */
export function stopped(): FlatlineError {
  return new FlatlineError("unavailable", "stopped; nothing was stored");
}

import { unpackRow, type JournalRun, type ReadRuns } from "../../../src/store/runs/journal-row.ts";

/** Unpacks a row of the journal, each run that repeats its report as one of its own, after the others. */
export function runsOfRow(bytes: Uint8Array, read: ReadRuns): JournalRun[] {
  const { runs, repeats } = unpackRow(bytes, read);
  return [
    ...runs,
    ...repeats.flatMap(({ checkIds, ...times }) =>
      [...checkIds].flatMap((checkId) => {
        const report = read.last.get(checkId) ?? null;
        return report === null ? [] : [{ checkId, ...times, isAsked: false, isReportKept: false, report }];
      }),
    ),
  ];
}

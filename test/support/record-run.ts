import type { FinishedRun } from "../../src/alerting/finished-run.ts";
import type { Recorded, Recorder } from "../../src/alerting/record.ts";
import { FlatlineError } from "../../src/base/errors.ts";

/** Records one run. @throws what kept it from being recorded */
export async function recordRun(
  recorder: Pick<Recorder, "record">,
  request: FinishedRun,
  signal?: AbortSignal,
): Promise<Recorded> {
  const [recorded] = await recorder.record([request], signal);
  if (recorded?.status === "fulfilled") return recorded.value;
  throw recorded?.reason ?? new FlatlineError("internal", "a run was not answered");
}

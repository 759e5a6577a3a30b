import { holdingFailures, releaseOf, type GateRelease } from "../decide/gate.ts";
import type { AlertingSettings } from "../settings.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import type { StoreParts } from "../../store/store-parts.ts";

/** The author of a change of the gate, and the settings that decide it. */
export interface GateChange {
  readonly slug: string;
  readonly settings: Pick<AlertingSettings, "gateOf">;
  /** null: no person did, a run did. */
  readonly by: string | null;
  readonly comment: string | null;
  readonly nowMs: number;
}

/** What a change left of the gate. */
export interface GateChanged<Result> {
  readonly result: Result;
  /** What held before, where the gate was held and no longer is; else none. */
  readonly opened: readonly OpenedHold[];
}

/** A failure that held the gate, as it is after the change that opened the gate, and what released it. */
export interface OpenedHold extends GateFailure {
  readonly how: GateRelease;
}

/**
 * Does `work` in the transaction of `parts` and records each hold that it ends, by whom. Everything that may open the gate goes
 * through here: judgement, release by hand, and the end of an alert; but a change of the policy (reload.ts).
 */
export async function changeGate<Result>(
  parts: StoreParts,
  { slug, settings, by, comment, nowMs }: GateChange,
  work: () => Promise<Result>,
): Promise<GateChanged<Result>> {
  const policy = settings.gateOf(slug);
  const before = holdingFailures(await parts.gate.failures(slug), policy);
  const result = await work();
  if (before.length === 0) return { result, opened: [] };
  const after = await parts.gate.failures(slug);
  const released = after.flatMap((failure): OpenedHold[] => {
    const how = before.some(({ alert }) => alert.id === failure.alert.id) ? releaseOf(failure, policy) : null;
    return how === null ? [] : [{ ...failure, how }];
  });
  for (const { alert, how } of released) {
    // A release by hand is one entry for all.
    if (how !== "released") await parts.gate.addRelease({ slug, atMs: nowMs, how, alertId: alert.id, by, comment });
  }
  return { result, opened: holdingFailures(after, policy).length === 0 ? released : [] };
}

import { failuresIn } from "../store/alerts/gate.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { releaseOf } from "./decide/gate.ts";
import type { SilenceRule } from "../contract/silence.ts";
import { ruleOf, silencedAt } from "./decide/silences.ts";
import type { IncidentMember } from "./incident-summary.ts";
import type { AlertingSettings, AlertTarget } from "./settings.ts";

/** An alert as it stands under the silences, gates and configuration that hold now. */
export interface AlertView extends IncidentMember {
  readonly target: AlertTarget | null;
}

/** Reads the rules of all silences that end after `atMs`, of the configuration and of the store. */
export async function silenceRules(
  { silences }: Pick<StoreParts, "silences">,
  settings: Pick<AlertingSettings, "silences">,
  atMs: number,
): Promise<readonly SilenceRule[]> {
  return [...settings.silences, ...(await silences.endingAfter(atMs)).map(ruleOf)];
}

/** Reads the silences that hold now. Returns a function that says how an alert, live or ended, stands. */
export async function alertViewer(
  store: Pick<StoreParts, "silences">,
  settings: Pick<AlertingSettings, "silences" | "targetOf" | "gateOf">,
  nowMs: number,
): Promise<(kept: Alert) => AlertView> {
  const isSilenced = silencedAt(await silenceRules(store, settings, nowMs), nowMs);
  return (alert) => {
    const { check, slug } = alert;
    const [failure] = failuresIn([alert]);
    const target = settings.targetOf(check, slug);
    return {
      ...alert,
      target,
      isSilenced: alert.end === null && isSilenced({ check, slug, labels: target?.labels ?? {} }),
      holdsGate: failure !== undefined && releaseOf(failure, settings.gateOf(slug)) === null,
    };
  };
}

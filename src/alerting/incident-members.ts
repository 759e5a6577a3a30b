import type { KeptAlert } from "../store/alerts/alerts.ts";
import { failuresIn } from "../store/alerts/gate.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { releaseOf } from "./decide/gate.ts";
import { ruleOf, silencedAt } from "./decide/silences.ts";
import type { IncidentMember } from "./incident-summary.ts";
import type { AlertingSettings } from "./settings.ts";

/** Reads what holds now of the silences and gates; returns how an alert of an incident stands under them. */
export async function memberViewer(
  { silences }: Pick<StoreParts, "silences">,
  settings: Pick<AlertingSettings, "silences" | "targetOf" | "gateOf">,
  nowMs: number,
): Promise<(kept: KeptAlert) => IncidentMember> {
  const stored = await silences.endingAfter(nowMs);
  const isSilenced = silencedAt([...settings.silences, ...stored.map(ruleOf)], nowMs);
  return ({ alert, end }) => {
    const { check, slug } = alert;
    const policy = settings.gateOf(slug);
    const [failure] = failuresIn([{ alert, end }]);
    const subject = { check, slug, labels: settings.targetOf(check, slug)?.labels ?? {} };
    return {
      alert,
      end,
      isSilenced: end === null && isSilenced(subject),
      holdsGate: failure !== undefined && releaseOf(failure, policy) === null,
    };
  };
}

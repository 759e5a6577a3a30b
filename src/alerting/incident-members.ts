import type { KeptAlert } from "../store/alerts/alerts.ts";
import { failuresIn } from "../store/alerts/gate.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { releaseOf } from "./decide/gate.ts";
import { matches } from "./decide/matching.ts";
import { ruleOf, rulesAt } from "./decide/silences.ts";
import type { IncidentMember } from "./incident-summary.ts";
import type { AlertingSettings } from "./settings.ts";

/** Reads what holds now of the silences and gates; returns how an alert of an incident stands under them. */
export async function memberViewer(
  { silences }: Pick<StoreParts, "silences">,
  settings: Pick<AlertingSettings, "silences" | "targetOf" | "gateOf">,
  nowMs: number,
): Promise<(kept: KeptAlert) => IncidentMember> {
  const rules = rulesAt([...settings.silences, ...(await silences.endingAfter(nowMs)).map(ruleOf)], nowMs);
  return ({ alert, end }) => {
    const { check, slug } = alert;
    const policy = settings.gateOf(slug);
    const [failure] = failuresIn([{ alert, end }]);
    const subject = { check, slug, labels: settings.targetOf(check, slug)?.labels ?? {} };
    return {
      alert,
      end,
      isSilenced: end === null && rules.some((rule) => matches(rule, subject)),
      holdsGate: failure !== undefined && releaseOf(failure, policy) === null,
    };
  };
}

import { known } from "../document/accepted.ts";
import { settingsOf, type Finding, type Part, type WrittenConfig, type WrittenReceiver } from "./written.ts";

const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const ownLabels = ["alertname", "check", "slug", "severity"];

/** Labels that no receiver of the configuration could be sent. */
export function checkLabels(config: WrittenConfig, receivers: readonly Part<WrittenReceiver>[]): Finding[] {
  const hasAlertmanager = receivers.some(({ value }) => value.type === "alertmanager");
  return settingsOf(config).flatMap(({ path, value }) =>
    Object.keys(known(value.labels) ?? {}).flatMap((name): Finding[] => {
      if (name === "") return [{ path: [...path, "labels", name], message: "a label needs a name", part: "key" }];
      const message = hasAlertmanager ? labelNameProblem(name) : null;
      return message === null ? [] : [{ path: [...path, "labels", name], message, part: "key" }];
    }),
  );
}

/** Returns why an alertmanager receiver cannot send a label of this name; null when it can. */
export function labelNameProblem(name: string): string | null {
  if (ownLabels.includes(name)) return "this label is flatline's own in what an alertmanager receiver sends";
  if (labelName.test(name) && !name.startsWith("__")) return null;
  return "is no valid label name for an alertmanager receiver: letters, digits and _ only";
}

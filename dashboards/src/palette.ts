import {
  type DynamicConfigValue,
  FieldColorModeId,
  MappingType,
  type ValueMapping,
} from "@grafana/grafana-foundation-sdk/dashboard";

/** The page's colours of severities, between its light and dark ones, so that they hold on both of Grafana's themes. */
export const severityColors = { fail: "#d9384f", warn: "#c98b14", unknown: "#8074ce", ok: "#4fa69c" } as const;

/** What is no severity: counts, what was expected, and lines that only help the eye. */
export const plainColors = { count: "#6e9fd8", expected: "#8e979d" } as const;

/** The number of a severity in `severityLevel`, its word and colour: fail > unknown > warn > ok, as everywhere. */
export const severityMapping: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: {
      "0": { text: "ok", color: severityColors.ok, index: 0 },
      "1": { text: "warn", color: severityColors.warn, index: 1 },
      "2": { text: "unknown", color: severityColors.unknown, index: 2 },
      "3": { text: "fail", color: severityColors.fail, index: 3 },
    },
  },
];

/** 1 and 0 as words; `isGood` says which of them is calm. */
export function yesNoMapping(words: { readonly yes: string; readonly no: string }): ValueMapping[] {
  return [
    {
      type: MappingType.ValueToText,
      options: {
        "1": { text: words.yes, color: severityColors.ok, index: 0 },
        "0": { text: words.no, color: severityColors.fail, index: 1 },
      },
    },
  ];
}

/** An override that gives a series one colour. */
export function fixedColor(color: string): DynamicConfigValue[] {
  return [{ id: "color", value: { mode: FieldColorModeId.Fixed, fixedColor: color } }];
}

/** As `fixedColor`, for a line that is a limit and no measurement. */
export function dashedLine(color: string): DynamicConfigValue[] {
  return [
    ...fixedColor(color),
    { id: "custom.lineStyle", value: { fill: "dash", dash: [6, 4] } },
    { id: "custom.fillOpacity", value: 0 },
    { id: "custom.lineWidth", value: 1 },
  ];
}

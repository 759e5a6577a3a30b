import { judgementVerdicts } from "../contract/judgement.ts";
import { gateChecks } from "../contract/report.ts";
import type { Instrument } from "./catalogue.ts";

/** Counted as people judge alerts. */
export const countedJudgementInstruments = {
  alertsJudged: {
    name: "flatline_alerts_judged_total",
    type: "counter",
    labels: ["check", "verdict"],
    help: "Judgements of alerts by this process, by what was said.",
    unit: "1",
    values: { check: gateChecks, verdict: judgementVerdicts },
  },
} as const satisfies Record<string, Instrument>;

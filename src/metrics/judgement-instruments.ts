import { judgementVerdicts } from "../contract/judgement.ts";
import { gateChecks } from "../checks/checks.ts";
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

/** What the store says of each gate, read at each scrape. */
export const storedGateInstruments = {
  gateHeld: {
    name: "flatline_gate_held",
    type: "gauge",
    labels: ["slug"],
    help: "Whether a failure holds the gate: deaths of the organization are not to be acted on.",
    unit: "1",
    note: "An organization that has left the configuration is there while its gate is held. A gate that is shut because nothing is known (`gate.whenUnknown: hold`) is 0: see `flatline_check_up`.",
  },
  gateHeldSince: {
    name: "flatline_gate_held_since_timestamp_seconds",
    type: "gauge",
    labels: ["slug"],
    help: "When the oldest failure that holds the gate was recorded.",
    unit: "timestamp",
    note: "Absent while no failure holds it.",
  },
} as const satisfies Record<string, Instrument>;

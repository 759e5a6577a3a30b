import {
  checkInstruments,
  countedInstruments,
  fleetInstruments,
  type Instrument,
} from "../../src/metrics/catalogue.ts";

/** The whole catalogue of metrics. */
export const instruments: readonly Instrument[] = [
  ...Object.values(countedInstruments),
  ...Object.values(checkInstruments),
  ...Object.values(fleetInstruments),
];

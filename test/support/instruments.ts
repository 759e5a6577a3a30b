import {
  checkInstruments,
  countedInstruments,
  fleetInstruments,
  type Instrument,
} from "../../src/metrics/catalogue.ts";

/** The whole catalogue of metrics. */
export const instruments: readonly (Instrument & { readonly name: string })[] = Object.entries({
  ...countedInstruments,
  ...checkInstruments,
  ...fleetInstruments,
}).map(([name, one]) => ({ name, ...one }));

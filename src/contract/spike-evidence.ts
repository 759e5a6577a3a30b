import { z } from "zod";

// Evidence stands beside a result: a finding of API v2 is only text, and no program reads that again.

const nullableNumber = z.number().nullable();

/** A value that deaths share: its share (0–1) in the window and usually. */
export const carrierSchema = z.object({
  key: z.string(),
  value: z.string(),
  share: z.number(),
  usualShare: z.number(),
});

/** When the excess of a spike began, and the last marker before. */
export const onsetSchema = z.object({
  atMs: z.number(),
  marker: z.object({ text: z.string(), atMs: z.number() }).nullable(),
});

/** Says whether the excess of a spike goes on (CONTRACT 15). */
export const excessSchema = z.object({
  state: z.enum(["ongoing", "stopped", "unclear"]),
  deathsLastHour: z.number(),
  usualPerHour: z.number(),
  /** The end of the last busy hour, to the minute; null: the excess goes on, or is too thin to say. */
  quietSinceMs: nullableNumber,
  /** The window is without the excess by then; null: it has not stopped. */
  expectedEndAtMs: nullableNumber,
});

export const revivedSchema = z.object({ judged: z.number(), count: z.number() });

export type SpikeCarrier = Readonly<z.infer<typeof carrierSchema>>;
export type SpikeOnset = Readonly<z.infer<typeof onsetSchema>>;
export type SpikeExcess = Readonly<z.infer<typeof excessSchema>>;

export interface SpikeEvidence {
  /** Asset types of the findings, largest excess first. */
  readonly assetTypes: readonly { readonly assetType: string; readonly excess: number }[];
  readonly carriers: readonly SpikeCarrier[];
  /** `key=value` that most deaths share and usually fewer do: alerts with one value join one incident. */
  readonly sharedValue: string | null;
  readonly onset: SpikeOnset | null;
  readonly excess: SpikeExcess | null;
  readonly revived: Readonly<z.infer<typeof revivedSchema>> | null;
  readonly cause: string | null;
}

/** There are no single events. */
export const noEvidence: SpikeEvidence = {
  assetTypes: [],
  carriers: [],
  sharedValue: null,
  onset: null,
  excess: null,
  revived: null,
  cause: null,
};

/** null: the excess goes on, or that is unknown. */
export function stoppedAtMsOf({ state, quietSinceMs }: Pick<SpikeExcess, "state" | "quietSinceMs">): number | null {
  return state === "stopped" ? quietSinceMs : null;
}

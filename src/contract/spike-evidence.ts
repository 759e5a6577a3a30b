import { z } from "zod";

// What the events say of a spike stands beside its result: a finding has words only (API v2), and nobody reads them again.

const nullableNumber = z.number().nullable();

/** A value of an attribute that deaths share, with its shares (0–1) in the window and usually. */
export const carrierSchema = z.object({
  key: z.string(),
  value: z.string(),
  share: z.number(),
  usualShare: z.number(),
});

/** When the excess of a spike began, and the last marker before; null without one. */
export const onsetSchema = z.object({
  atMs: z.number(),
  marker: z.object({ text: z.string(), atMs: z.number() }).nullable(),
});

/** Whether the excess of a spike goes on (CONTRACT 15, Is it over?). */
export const excessSchema = z.object({
  state: z.enum(["ongoing", "stopped", "unclear"]),
  deathsLastHour: z.number(),
  usualPerHour: z.number(),
  /** The end of the last busy hour, to the minute, since when nothing is unusual; null: it goes on, or came too thinly to say. */
  quietSinceMs: nullableNumber,
  /** When the window is without it at the latest; null unless it has stopped. */
  expectedEndAtMs: nullableNumber,
});

export const revivedSchema = z.object({ judged: z.number(), count: z.number() });

export type SpikeCarrier = Readonly<z.infer<typeof carrierSchema>>;
export type SpikeOnset = Readonly<z.infer<typeof onsetSchema>>;
export type SpikeExcess = Readonly<z.infer<typeof excessSchema>>;

export interface SpikeEvidence {
  /** The asset types of the findings with their deaths above the expected number, largest first. */
  readonly assetTypes: readonly { readonly assetType: string; readonly excess: number }[];
  readonly carriers: readonly SpikeCarrier[];
  /** `key=value` that most of the deaths share and usually fewer do: alerts of one belong to one incident. */
  readonly sharedValue: string | null;
  readonly onset: SpikeOnset | null;
  readonly excess: SpikeExcess | null;
  readonly revived: Readonly<z.infer<typeof revivedSchema>> | null;
  readonly cause: string | null;
}

/** The evidence where single events say nothing. */
export const noEvidence: SpikeEvidence = {
  assetTypes: [],
  carriers: [],
  sharedValue: null,
  onset: null,
  excess: null,
  revived: null,
  cause: null,
};

/** Returns when the excess stopped; null: it goes on, or that cannot be said. */
export function stoppedAtMsOf({ state, quietSinceMs }: Pick<SpikeExcess, "state" | "quietSinceMs">): number | null {
  return state === "stopped" ? quietSinceMs : null;
}

import type { Target } from "../fuzz.ts";
import { apiTarget } from "./api.ts";
import { configurationTarget } from "./configuration.ts";
import { eventFilesTarget } from "./event-files.ts";

/** One for each way into flatline. */
export const targets: readonly Target[] = [configurationTarget, eventFilesTarget, apiTarget];

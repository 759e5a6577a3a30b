import { nextRuns } from "../app/next-runs.ts";
import { registerAlerts } from "./alerts.ts";
import { registerCheck } from "./check.ts";
import { configCommand } from "./config.ts";
import type { RegisterCommand } from "./context.ts";
import { registerDrill } from "./drill.ts";
import { registerHealthcheck } from "./healthcheck.ts";
import { registerImportEvents } from "./import-events.ts";
import { registerImportFixture } from "./import-fixture.ts";
import { registerKeys } from "./keys.ts";
import { registerNotify } from "./notify.ts";
import { registerOutbox } from "./outbox.ts";
import { registerProposals } from "./proposals.ts";
import { registerReports } from "./reports.ts";
import { registerRun } from "./run.ts";
import { registerSilence } from "./silence.ts";

/** Every command, in the order of `--help`. */
export const commands: readonly RegisterCommand[] = [
  registerRun,
  registerCheck,
  configCommand({ nextRuns }),
  registerAlerts,
  registerSilence,
  registerNotify,
  registerDrill,
  registerOutbox,
  registerImportEvents,
  registerImportFixture,
  registerKeys,
  registerReports,
  registerProposals,
  registerHealthcheck,
];

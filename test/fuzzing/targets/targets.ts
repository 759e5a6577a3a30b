import type { Target } from "../fuzz.ts";
import { apiTarget } from "./api.ts";
import { argumentsTarget } from "./arguments.ts";
import { configurationTarget } from "./configuration.ts";
import { eventFilesTarget } from "./event-files.ts";
import { fixturesTarget } from "./fixtures.ts";
import { headsTarget } from "./heads.ts";
import { organizationListsTarget } from "./organization-lists.ts";
import { platformAnswersTarget } from "./platform-answers.ts";
import { receiverAnswersTarget } from "./receiver-answers.ts";
import { signedRequestsTarget } from "./signed-requests.ts";

/** One for each way into flatline. */
export const targets: readonly Target[] = [
  configurationTarget,
  organizationListsTarget,
  eventFilesTarget,
  fixturesTarget,
  apiTarget,
  headsTarget,
  signedRequestsTarget,
  platformAnswersTarget,
  receiverAnswersTarget,
  argumentsTarget,
];

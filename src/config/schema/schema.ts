import { z } from "zod";

import { dayMs, hourMs, secondMs } from "../../base/time.ts";
import { checkPostgresUrl } from "../../base/postgres-url.ts";
import {
  checkKey,
  checkSigningSecret,
  optionalSecret,
  secret,
  secretHeaders,
  secretOrNone,
} from "../../base/schema/secret-rules.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import { rights, rightsOf } from "../../contract/rights.ts";
import { defaultsSchema, organizationSchema, settingsShape } from "./organization.ts";
import { checkMatch, matchShape, receiverSchema } from "./receiver.ts";
import { builtIn, fileOrUrl, layer, readAs, section } from "../../base/schema/section.ts";
import { sourceSchema } from "./source.ts";
import {
  addressRange,
  checkHttpUrl,
  cronPattern,
  duration,
  filePath,
  headerName,
  httpUrl,
  instant,
  listenAddress,
  longestTimeoutMs,
  nameText,
  shortestIntervalMs,
  timezone,
  wholeNumber,
} from "../../base/schema/values.ts";

const fleetSchema = section({
  minOrganizations: builtIn(wholeNumber(1, 100_000), 3).describe("So many must have begun together."),
});

const alertingSchema = builtIn(
  section({
    groupWait: builtIn(duration(0, hourMs), "10s").describe("From the first change to the first notification."),
    groupInterval: builtIn(duration(0, dayMs), "1m").describe("Between two notifications of new alerts to a receiver."),
    incident: builtIn(
      section({
        within: builtIn(duration(0, 6 * hourMs), "30m").describe("What fires so soon after its first alert joins it."),
      }),
      {},
    ).describe("What belongs together."),
    fleet: builtIn(
      readAs(
        z.union([z.literal(false), fleetSchema]),
        (fleet) => (fleet === false ? null : fleet),
        (fleet) => fleet ?? false,
      ),
      {},
    ).describe("One notification in place of many when the checker broke for everybody; or `false`."),
    sample: builtIn(wholeNumber(0, 100), 10).describe("How many dead assets the notification of a spike names."),
    externalUrl: httpUrl.optional().describe("Where people reach flatline: what links begin with."),
  }),
  {},
).describe("How notifications are grouped.");

const silenceKeys = layer(
  {
    ...matchShape,
    startsAt: instant().optional().describe("A fixed silence begins: `2026-01-01T00:00:00Z`."),
    endsAt: instant().optional().describe("A fixed silence ends."),
    schedule: cronPattern.optional().describe("A recurring silence begins, each time that this cron pattern comes."),
    duration: duration(shortestIntervalMs, 31 * dayMs)
      .optional()
      .describe("How long a recurring silence lasts."),
    timezone: timezone.optional().describe("The timezone of `schedule`.").meta({ default: "UTC" }),
    comment: z.string().optional().describe("Why.").meta({ default: "" }),
  },
  {
    check: (silence) => {
      const { startsAt, endsAt } = silence;
      const isRecurring = [silence.schedule, silence.duration, silence.timezone].some((value) => value !== undefined);
      const wanted = isRecurring ? (["schedule", "duration"] as const) : (["startsAt", "endsAt"] as const);
      const kind = isRecurring
        ? "a recurring silence has schedule and duration"
        : "a silence has startsAt and endsAt, or schedule and duration";
      const foreign = isRecurring ? (["startsAt", "endsAt"] as const).filter((key) => silence[key] !== undefined) : [];
      const isBackwards = !isRecurring && startsAt !== undefined && endsAt !== undefined && endsAt <= startsAt;
      return [
        ...checkMatch(silence),
        ...wanted.filter((key) => silence[key] === undefined).map((key) => ({ key, message: `is required: ${kind}` })),
        ...foreign.map((key) => ({
          key,
          message: "does not go with schedule: a silence is fixed or recurring",
          part: "key" as const,
        })),
        ...(isBackwards ? [{ key: "endsAt", message: "must be after startsAt" }] : []),
      ];
    },
  },
);

const silenceSchema = readAs(
  silenceKeys,
  ({
    startsAtMs,
    endsAtMs,
    schedule,
    durationMs = Number.NaN,
    timezone = "UTC",
    comment = "",
    ...match
  }): SilenceRule =>
    schedule === undefined
      ? { ...match, comment, kind: "fixed", startsAtMs: startsAtMs ?? Number.NaN, endsAtMs: endsAtMs ?? Number.NaN }
      : { ...match, comment, kind: "recurring", schedule, durationMs, timezone },
  (silence) => silence,
);

const appUrlSchema = z.string().superRefine((text, context) => {
  if (!text.includes("{slug}")) context.addIssue("must hold {slug}, where the organization's slug goes");
  const problem = checkHttpUrl(text.replaceAll("{slug}", "slug"));
  if (problem !== null) context.addIssue(problem);
});

const tokenKeys = section({
  name: nameText(100).describe("Who acts with it: the author of each act, on the page and in the audit."),
  token: secret(checkKey).describe("The token, as long as `server.token`. A secret."),
  may: z.array(z.enum(rights)).min(1).describe("Its rights; each includes `read`, but `ingest`."),
  slugs: z
    .array(nameText())
    .min(1)
    .optional()
    .describe(
      "Of a token that may only `ingest`: the organizations whose events it may send, slugs or patterns with `*`. " +
        "When absent all.",
    ),
});

const tokenSchema = readAs(
  tokenKeys,
  ({ name, token, may, slugs }) => ({ name, secret: token, rights: rightsOf(may), slugs }),
  ({ name, secret, rights, slugs }) => ({ name, token: secret, may: [...rights], slugs }),
);

const trustedProxySchema = section({
  from: z
    .array(addressRange)
    .min(1)
    .describe("The proxy's addresses, as flatline sees them: `127.0.0.1`, `10.0.0.0/8`, `::1`."),
  userHeader: builtIn(headerName, "X-Forwarded-User").describe("The header that names the user."),
  groupsHeader: builtIn(headerName, "X-Forwarded-Groups").describe("The header of the groups, commas between."),
  may: z.record(z.string(), z.array(z.enum(rights)).min(1)).describe("The rights of each group, as in `tokens`."),
}).describe("Identity from a reverse proxy. It must set both headers itself, and drop what a client sends in them.");

// Browsers keep no cookie for longer (RFC 6265bis, section 5.5).
const longestSessionMs = 400 * dayMs;

export const defaultListen = "127.0.0.1:9640";

const serverShape = {
  listen: listenAddress
    .optional()
    .describe(
      "HOST:PORT to listen on. " +
        "When absent `$FLATLINE_LISTEN`, which the container image sets to `0.0.0.0:9640`, else this.",
    )
    .meta({ default: defaultListen }),
  token: secretOrNone(checkKey).describe(
    "What writing over HTTP needs (`Authorization: Bearer`); an empty one is none. " +
      "At least 16 bytes where `listen` is not a loopback address. A secret.",
  ),
  tokens: builtIn(z.array(tokenSchema), []).describe("Tokens with a name, for some rights only."),
  trustedProxy: trustedProxySchema.optional(),
  linkSecret: optionalSecret(checkSigningSecret).describe(
    "Signs the link *Acknowledge* in chats and mail, at least 16 bytes; absent: messages have the plain link only. " +
      "Needs `alerting.externalUrl`. A secret.",
  ),
  publicRead: builtIn(z.boolean(), true).describe("Whether metrics, results and the page are public."),
  sessionTtl: builtIn(duration(secondMs, longestSessionMs), "30d").describe("How long a session lasts without use."),
  drainTimeout: builtIn(duration(0, longestTimeoutMs), "8s").describe("How long a stop waits for what is under way."),
};

export const defaultStorePath = "./data/flatline.db";

const storageShape = {
  path: builtIn(filePath, defaultStorePath).describe("The file; relative to the working directory. Not with `url`."),
  url: optionalSecret(checkPostgresUrl).describe(
    "A PostgreSQL in place of the file: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. A secret.",
  ),
  poolSize: builtIn(wholeNumber(2, 500), 10).describe("Connections to it, beside the one of who writes."),
  retention: builtIn(duration(hourMs, 3_650 * dayMs), "90d").describe("How long verdicts are kept."),
  auditRetention: builtIn(duration(dayMs, 36_500 * dayMs), "400d").describe("How long the audit is kept."),
  eventRetention: builtIn(duration(0, 36_500 * dayMs), "0s").describe(
    "How long liveness events are kept; `0s`: for ever, else at least the longest window and baseline.",
  ),
};

const heartbeatSchema = section({
  url: secret(checkHttpUrl).describe("Asked with GET. A secret."),
  interval: builtIn(duration(shortestIntervalMs, dayMs), "1m").describe("How often."),
}).describe("A dead man's switch: asked while the scheduler and the outbox are alive.");

const logSchema = builtIn(
  section({
    level: builtIn(z.enum(["debug", "info", "warn", "error"]), "info").describe("The least level that is logged."),
    format: builtIn(z.enum(["auto", "json", "pretty"]), "auto").describe("`auto`: text on a terminal, else JSON."),
  }),
  {},
).describe("The log, on stderr.");

/** A source of organizations (CONTRACT 14). */
const discoverSchema = section(
  {
    name: nameText(64).describe("The source's name in metrics, logs and commands."),
    url: optionalSecret(checkHttpUrl).describe(
      "Asked with GET for a JSON array; redirects are not followed, at most 16 MiB within 30 s. " +
        "A secret. Not with `file`.",
    ),
    file: filePath.optional().describe("A file with the JSON array, at most 16 MiB. Not with `url`."),
    headers: secretHeaders().describe("Headers of the request; secrets."),
    refreshInterval: builtIn(duration(shortestIntervalMs, dayMs), "5m").describe("How often it is read."),
    maxOrganizations: builtIn(wholeNumber(1, 100_000), 20_000).describe("A longer list is not applied."),
  },
  {
    check: (values) =>
      fileOrUrl(values, ["url", "headers"], {
        key: null,
        message: "needs url or file: where the list of organizations is",
      }),
  },
).describe("A list of organizations that another system keeps.");

/** `secondOpinion` (CONTRACT 16). */
const secondOpinionSchema = section({
  sample: builtIn(wholeNumber(1, 64), 20).describe("How many of the dead assets it is asked about."),
  control: builtIn(wholeNumber(0, 64), 20).describe("And about how many known to be alive, and long dead."),
  again: builtIn(duration(shortestIntervalMs, 30 * dayMs), "1h").describe("Between two questions of an incident."),
  verifier: section(
    {
      url: optionalSecret(checkHttpUrl).describe("The verifier's address. A secret."),
      secret: optionalSecret(checkSigningSecret).describe("Signs requests as those of a `webhook`. A secret."),
      timeout: builtIn(duration(secondMs, longestTimeoutMs), "60s").describe("Of its answer."),
      file: filePath
        .optional()
        .describe("In place of `url`, for examples and tests: a file with a verifier's answer (JSON, `.gz` too)."),
    },
    {
      check: (values) =>
        fileOrUrl(values, ["url", "secret"], {
          key: null,
          message: "needs url or file: who looks at the assets",
          part: "key",
        }),
    },
  ).describe("A service of your own that looks at assets."),
}).describe("A verifier is asked about some dead assets of an incident. Stored events only.");

/** Hints for keys of organizations that are written one level too high. */
const misplaced = Object.fromEntries(
  Object.keys(settingsShape).map((key) => [key, "unknown key; it belongs under defaults or an organization"]),
);

export const rootShape = {
  source: sourceSchema,
  defaults: defaultsSchema.optional(),
  organizations: z.array(organizationSchema).optional().describe("Who is checked: slugs, or objects."),
  discover: z
    .array(discoverSchema)
    .max(100)
    .optional()
    .describe("Where more organizations are listed, by URL or file."),
  alerting: alertingSchema,
  receivers: builtIn(z.array(receiverSchema), []).describe("Where notifications go."),
  silences: builtIn(z.array(silenceSchema), []).describe("When notifications are held back."),
  appUrl: appUrlSchema
    .optional()
    .describe("Template of an organization's address in the platform: `https://app.example.com/o/{slug}`."),
  server: builtIn(section(serverShape), {}).describe("The HTTP server."),
  storage: builtIn(section(storageShape), {}).describe("The store."),
  heartbeat: heartbeatSchema.optional(),
  secondOpinion: secondOpinionSchema.optional(),
  log: logSchema,
};

/** The configuration file (CONTRACT 4). Rules between several keys are in check/relations.ts. */
export const rootSchema = section(rootShape, {
  foreign: misplaced,
  isAboutAbsence: true,
  check: ({ organizations, discover }) => {
    if (organizations !== undefined || discover !== undefined) return [];
    const message = "is required: a list of slugs or objects, or discover for sources of one";
    return [{ key: "organizations", message }];
  },
}).describe("Configuration of flatline");

export type RootInput = z.output<typeof rootSchema>;

import { advice } from "../backtest/tuning.ts";
import { isLoopbackHost } from "../base/loopback-host.ts";
import { checkHttpUrl } from "../base/schema/values.ts";

/** Ways to be told: the question for what is secret of each, null: nothing; what is wrong with an answer; its key in the file. */
export const tellings = {
  log: { secret: null, problemOf: () => null, key: "" },
  slack: { secret: "URL of a Slack webhook", problemOf: checkHttpUrl, key: "url" },
  msteams: { secret: "URL of a Teams workflow", problemOf: checkHttpUrl, key: "url" },
  pagerduty: { secret: "Routing key of PagerDuty", problemOf: notEmpty, key: "routingKey" },
  webhook: { secret: "URL of a webhook", problemOf: checkHttpUrl, key: "url" },
  email: { secret: "Mail server (smtps://user:password@mail.example.com)", problemOf: notEmpty, key: "url" },
} as const satisfies Readonly<
  Record<string, { secret: string | null; problemOf: (text: string) => string | null; key: string }>
>;
export type Telling = keyof typeof tellings;
export const tellingNames = Object.keys(tellings) as Telling[];

export function notEmpty(text: string): string | null {
  return text === "" ? "must not be empty" : null;
}

/** What a first configuration is made of. */
export interface FirstAnswers {
  readonly source: "remote" | "embedded";
  /** The address of the platform's API v2 and its key; null with events of one's own. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly slugs: readonly string[];
  readonly tell: Telling;
  /** The URL or key of who is told; null: the log is. */
  readonly tellSecret: string | null;
  readonly mailFrom: string | null;
  readonly mailTo: readonly string[];
  /** Where people open flatline. */
  readonly externalUrl: string;
}

/** Renders the configuration, which names the files below secrets/ for what is secret. */
export function renderFirstConfig(answers: FirstAnswers): string {
  const { source, baseUrl, slugs, externalUrl } = answers;
  return `# flatline.yaml, as \`flatline init\` wrote it. Every key that is not here has its default; \`flatline config show\` prints
# them all, \`flatline config check\` says what is wrong. The files below secrets/ hold the secrets.

source:
${source === "remote" ? `  type: remote # the platform evaluates, flatline asks its API v2\n  baseUrl: ${quoted(baseUrl ?? "")}\n  apiKey: \${file:secrets/api-key}\n` : embedded}
organizations:
${slugs.map((slug) => `  - ${quoted(slug)}\n`).join("")}
receivers:
  - { ${receiverOf(answers)} }

alerting:
  externalUrl: ${quoted(externalUrl)} # links in messages begin with it

server:
  listen: 127.0.0.1:9640 # page, /metrics and HTTP API${isLocal(externalUrl) ? "" : ", for a proxy on this machine; 0.0.0.0:9640 is for all others, too"}
  token: \${file:secrets/token} # the page asks for it when somebody signs in

storage:
  path: ./data/flatline.db # relative to the working directory
`;
}

const embedded = `  type: embedded # liveness events come in by \`flatline import events FILE\` or POST /api/v1/events

defaults:
  # Deaths of the last 24 h against the median of the same hours on each of the 28 days before: one bad day moves it little,
  # and an incident hides no other. Days before an organization's first event are left out; with fewer than three the alert
  # waits. Measured in docs/detection.md; \`flatline tune\` finds what fits your own events.
  baseline: ${advice.baseline}
  thresholds: { ${Object.entries(advice.thresholds)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ")} }
  # Without a look, nothing dies: fail when no event came for unusually long; the spike check is unknown then, never ok.
  eventFlow: { enabled: true }
`;

/** Whether people open flatline on this machine alone. */
export function isLocal(externalUrl: string): boolean {
  return isLoopbackHost(new URL(externalUrl).hostname);
}

function receiverOf({ tell, mailFrom, mailTo }: FirstAnswers): string {
  const { key } = tellings[tell];
  const secret = key === "" ? "" : `, ${key}: "\${file:secrets/${tell}}"`;
  const mail = mailFrom === null ? "" : `, from: ${quoted(mailFrom)}, to: [${mailTo.map(quoted).join(", ")}]`;
  return `name: ${tell}, type: ${tell}${secret}${mail}`;
}

/** As YAML that is this text whatever it holds; \`$\` begins a variable in the file. */
function quoted(text: string): string {
  const escaped = text.replaceAll("$", "$$$$");
  return /^[a-z][\w./:-]*$/i.test(escaped) && !/:$|^(?:true|false|null|yes|no|on|off)$/i.test(escaped)
    ? escaped
    : JSON.stringify(escaped);
}

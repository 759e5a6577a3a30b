import { advice } from "../backtest/tuning.ts";
import { sourceKinds } from "../config/schema/source-kinds.ts";

/** The kinds of source that a starter can be for. */
export const starterSources = ["embedded", "remote", "postgres", "clickhouse"] as const;
/** One of {@link starterSources}. */
export type StarterSource = (typeof starterSources)[number];

/** Renders a commented configuration to begin with, as YAML; valid as it is, to be completed where it says "yours". */
export function renderStarter(source: StarterSource): string {
  const evaluation = sourceKinds[source].isLocal ? medianRule : platformRule;
  return `# flatline.yaml. Every key that is not here has its default; \`flatline config show\` prints them all, \`flatline config check\`
# says what is wrong. An editor completes the file after \`flatline config schema > flatline.schema.json\` with this line:
# yaml-language-server: $schema=./flatline.schema.json

${sourceTexts[source]}
${evaluation}${sourceKinds[source].holdsEvents ? liveness : ""}
organizations:
  - acme # yours: the slugs, as the platform and the events name them
  # - { slug: globex, thresholds: { minSpikeCount: 50 }, labels: { team: trust } }

receivers:
  - { name: console, type: log } # a line in flatline's log
  # - { name: trust-slack, type: slack, url: "\${SLACK_WEBHOOK_URL}" }
  # - { name: ops, type: webhook, url: https://ops.example.com/hook, secret: "\${HOOK_SECRET}" }

server:
  listen: 127.0.0.1:9640 # page, /metrics and HTTP API
  # token: "\${FLATLINE_TOKEN}" # without one all writes over HTTP are refused

storage:
  path: ./data/flatline.db # relative to the working directory
`;
}

const sourceTexts: Readonly<Record<StarterSource, string>> = {
  embedded: `source:
  type: embedded # liveness events come in by \`flatline import events FILE\` or POST /api/v1/events
`,
  remote: `source:
  type: remote # the platform evaluates, flatline asks its API v2
  baseUrl: https://security.example.com/api/v2 # yours
  apiKey: "\${FLATLINE_API_KEY:-replace-me}" # from the environment; or \${file:PATH}
`,
  postgres: `source:
  type: postgres # a table of yours, read only
  url: "\${FLATLINE_SOURCE_URL:-postgres://flatline@db.example.com/platform}" # or \${file:PATH}
  table: public.liveness_events # yours, or a view; an index on (slug, at) keeps a round cheap
  columns: { slug: slug, at: at, assetType: asset_type, status: status } # yours: what the columns are called
`,
  clickhouse: `source:
  type: clickhouse # a table of yours, read only
  url: "\${FLATLINE_SOURCE_URL:-https://clickhouse.example.com:8443}" # or \${file:PATH}
  # username: flatline
  # password: \${file:/run/secrets/clickhouse}
  table: liveness_events # yours; its ORDER BY should begin with slug and at
  columns: { slug: slug, at: at, assetType: asset_type, status: status } # yours: what the columns are called
`,
};

const medianRule = `defaults:
  schedule: "*/5 * * * *"
  # Deaths of the last 24 h against the median of the same hours on each of the 28 days before: one bad day moves it little,
  # and an incident hides no other. Days before an organization's first event are left out; with fewer than three the alert
  # waits. Measured in docs/detection.md; \`flatline tune\` finds what fits your own events.
  baseline: ${advice.baseline}
  thresholds: { ${Object.entries(advice.thresholds)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ")} }
`;

const platformRule = `defaults:
  schedule: "*/5 * * * *"
  # The platform compares the last 24 h with the mean of the 7 days before. With the events at hand (source.type embedded,
  # postgres or clickhouse), \`baseline: median\` over 28 days finds more with fewer false alarms (docs/detection.md).
  thresholds: { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 }
`;

const liveness = `  # Without a look, nothing dies: fail when no event came for unusually long; the spike check is unknown then, never ok.
  eventFlow: { enabled: true }
  # An asset that you know to be alive, called dead, is a fail at once:
  # sentinel: { assets: ["https://login.acme.example"] }
`;

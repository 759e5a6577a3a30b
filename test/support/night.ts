import { Agent } from "undici";

import { heldGates } from "../../src/alerting/decide/gate.ts";
import type { Receiver } from "../../src/alerting/deliver/receiver.ts";
import type { Notification } from "../../src/alerting/notify/notification.ts";
import { createSilentLogger } from "../../src/base/logger.ts";
import { Secret } from "../../src/base/secret.ts";
import { hourMs, type Clock } from "../../src/base/time.ts";
import { createPlatformSource } from "../../src/client/platform-source.ts";
import { createSpikeEvidence } from "../../src/daemon/evidence/spike.ts";
import { evaluationDeps } from "../../src/daemon/local-source.ts";
import { runCheck, type RunCheckDeps } from "../../src/monitor/run-check.ts";
import type { PagerdutyEvent } from "../../src/receivers/pagerduty/pagerduty.ts";
import { createReceiver, type ReceiverOptions } from "../../src/receivers/receivers.ts";
import { apiRule } from "../../src/spike/evaluate.ts";
import { evaluateSpike } from "../../src/spike/spike.ts";
import { createAlertingWorld, type AlertingWorld, type WorldOptions } from "./alerting-world.ts";
import { startHttpSink, type HttpSink } from "./far-side/http-sink.ts";
import { createScriptedSource } from "./far-side/scripted-source.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "./far-side/scripted-upstream.ts";
import { startSlackDouble, type SlackDouble, type SlackText } from "./far-side/slack-double.ts";
import { spikeTarget } from "./scheduling.ts";

// As many as a daemon asks for at once.
const atOnce = 16;
const token = "xoxb-of-the-night";
const fleet = { minOrganizations: 3 } as const;
const observedKeys = {
  currentCount: "currentCount",
  baselineCount: "baselineCount",
  expectedCount: "expectedCount",
  ratio: "ratio",
};

/** What the platform answers for an organization: deaths of a day where 10 are usual, or that status. */
export type PlatformAnswer = { readonly deaths: number } | { readonly status: number };

/** A night: a source that is asked, a world that decides, and real receivers with what they speak to as doubles. */
export interface Night extends AsyncDisposable {
  readonly world: AlertingWorld;
  readonly slack: SlackDouble;
  readonly pagerduty: HttpSink;
  readonly slugs: readonly string[];
  /** What the platform answers from now on. */
  answer: (slug: string) => PlatformAnswer;
  /** Runs the check of each organization once, over `lastsMs` [0] in all. */
  round(lastsMs?: number): Promise<void>;
  /** The number of the only incident there is. */
  incident(): Promise<number>;
  /** All that people got to see, and how many gates are shut. */
  told(): Promise<string>;
}

export interface NightOptions extends Pick<WorldOptions, "engine"> {
  readonly source: "remote" | "embedded";
  readonly organizations: number;
  readonly startsAtMs: number;
}

/** Opens a night with a bot of Slack, an incoming webhook and PagerDuty, over HTTP. */
export async function createNight(options: NightOptions): Promise<Night> {
  const { organizations, startsAtMs, source, engine } = options;
  const slugs = Array.from({ length: organizations }, (_, index) => `org-${String(index).padStart(3, "0")}`);
  const stack = new AsyncDisposableStack();
  const dispatcher = new Agent();
  stack.defer(() => dispatcher.destroy());
  const world = await createAlertingWorld({
    ...(engine === undefined ? {} : { engine }),
    startMs: startsAtMs,
    slugs,
    receivers: [
      { name: "bot", hasThreads: true, sendActs: true },
      { name: "chat" },
      { name: "pager", takesAcknowledgements: true },
    ],
    policy: { repeatIntervalMs: 4 * hourMs },
    settings: { fleet, externalUrl: "https://flatline.example.com" },
  });
  stack.defer(() => world.close());
  const { clock, store } = world;
  const nowMs = (): number => clock.nowMs();
  const slack = await startSlackDouble(token, nowMs);
  stack.defer(() => slack.close());
  const pagerduty = await startHttpSink((response) => response.writeHead(202).end("{}"));
  stack.defer(() => pagerduty.close());

  const bot = {
    type: "slack",
    name: "bot",
    url: null,
    token: new Secret(token),
    channel: "#trust",
    apiUrl: slack.apiUrl,
  } as const;
  const chat = {
    type: "slack",
    name: "chat",
    url: new Secret(slack.webhookUrl),
    token: null,
    channel: null,
    apiUrl: null,
  } as const;
  const pager = {
    type: "pagerduty",
    name: "pager",
    url: new Secret(pagerduty.url),
    routingKey: new Secret("R0UTINGKEY"),
    webhookSecret: null,
  } as const;
  const messages = {
    ...store.incidents,
    presentOf: (sent: Notification) => world.present(sent),
    firingOf: (sent: Notification) => world.firing(sent),
  };
  const made = (receiver: ReceiverOptions): Receiver =>
    createReceiver(receiver, { dispatcher, messages, logger: createSilentLogger() });
  for (const receiver of [bot, chat, pager].map(made)) {
    const known = world.receivers.get(receiver.name);
    const { signal } = new AbortController();
    if (known !== undefined)
      known.answer = (notification) => receiver.deliver(notification, { signal, nowMs: nowMs() });
  }

  const platform = await startScriptedUpstream();
  stack.defer(() => platform.close());
  const night: Night = {
    world,
    slack,
    pagerduty,
    slugs,
    answer: () => ({ deaths: 10 }),
    round: async (lastsMs = 0) => {
      const deps = checkDeps();
      for (let first = 0; first < slugs.length; first += atOnce) {
        const some = slugs.slice(first, first + atOnce);
        const { signal } = new AbortController();
        const reports = await Promise.all(some.map((slug) => runCheck(spikeTarget(slug), deps, signal)));
        await Promise.all(reports.map((report) => world.record(report)));
        if (lastsMs > 0) await world.advance((lastsMs * some.length) / slugs.length);
      }
    },
    incident: async () => {
      const [incident, ...others] = await store.incidents.list({ state: "all", limit: 9 });
      if (incident === undefined || others.length > 0) throw new Error("there is not one incident");
      return incident.number;
    },
    told: async () => {
      const events = pagerduty.requests.map(({ body }) => JSON.parse(body) as PagerdutyEvent);
      const gates = heldGates(await store.gate.unreleased(await store.alerts.allLive()), () => ({
        releaseOn: ["judged"],
        whenUnknown: "allow",
      }));
      return [
        ...slack.ofBot.flatMap(({ states, replies }, index) => [
          `bot, message ${index + 1} with ${states.length - 1} edits`,
          ...shown(states.at(0)),
          ...states.slice(1).flatMap((state) => shown(state, 1)),
          "as it is at the end",
          ...shown(states.at(-1)),
          "its thread",
          ...replies.flatMap((reply) => shown(reply)),
        ]),
        `webhook, ${slack.ofWebhook.length} messages`,
        ...slack.ofWebhook.flatMap(({ states }) => shown(states.at(-1))),
        `PagerDuty, ${events.length} events of ${new Set(events.map(({ dedup_key: key }) => key)).size} incident`,
        ...events.map(pagerLine),
        `gates shut: ${gates.size}`,
        "",
      ].join("\n");
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  platform.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { readonly slug: string };
    const answer = night.answer(slug);
    if ("status" in answer) return { kind: "answer", status: answer.status, body: { message: "down", code: "DOWN" } };
    const counts = { currentCount: answer.deaths, baselineCount: 70 };
    return { kind: "answer", body: evaluateSpike({ slug, nowMs: nowMs(), ...counts }) };
  });
  const remote = remoteDeps(platform, dispatcher, clock);
  const checkDeps = (): RunCheckDeps => (source === "remote" ? remote : embeddedDeps(world));
  return night;
}

function remoteDeps(platform: ScriptedUpstream, dispatcher: Agent, clock: Clock): RunCheckDeps {
  const apiKey = new Secret("key-of-the-night");
  const { baseUrl } = platform;
  const source = createPlatformSource({ baseUrl, apiKey, apiKeyOf: () => null, dispatcher, clock, retries: 0 });
  return { source, clock, observedKeys };
}

function embeddedDeps({ store, board, clock }: AlertingWorld): RunCheckDeps {
  return {
    source: createScriptedSource({}),
    ...evaluationDeps({ appUrl: null, ruleOf: () => apiRule }, store.events),
    clock,
    observedKeys,
    evidence: createSpikeEvidence({ store, clock, logger: createSilentLogger() }, board),
  };
}

function shown(text: SlackText | undefined, lines = Number.POSITIVE_INFINITY): string[] {
  if (text === undefined) return [];
  const at = new Date(text.atMs).toISOString().slice(5, 19).replace("T", " ");
  return text.lines.slice(0, lines).map((line, index) => `${index === 0 ? at : " ".repeat(at.length)}  ${line}`);
}

function pagerLine({ event_action: action, payload }: PagerdutyEvent): string {
  return `${action}${payload === undefined ? "" : `: ${payload.severity}, ${payload.summary}`}`;
}

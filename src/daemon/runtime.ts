import { pageUrl } from "../base/url.ts";
import { linkLifeMs, signActLink } from "../alerting/act-link.ts";
import type { OutboxReceiver } from "../alerting/deliver/attempt.ts";
import type { IncidentMessages, Receiver } from "../alerting/deliver/receiver.ts";
import { firingOf, presentOf } from "../alerting/notify/present.ts";
import type { AlertingSettings } from "../alerting/settings.ts";
import type { Logger } from "../base/logger.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { LookSettings } from "../look/looks.ts";
import type { Config } from "../config/config.ts";
import { checkKey } from "../contract/check-key.ts";
import { checkNames, type CheckName } from "../contract/report.ts";
import { runCheck, runRound } from "../monitor/run-check.ts";
import type { ReceiverDeps } from "../receivers/kind.ts";
import { createReceiver } from "../receivers/receivers.ts";
import { createWebhookSigner } from "../receivers/webhook/webhook.ts";
import type { SpikeRule } from "../spike/evaluate.ts";
import type { Ground } from "./ground.ts";
import { createSource, ruleOf, type Source, type SourceDeps } from "./source.ts";
import { alertingSettings, checkTargets } from "./targets.ts";

/** Everything that is made from one configuration; a reload replaces it as a whole. */
export interface Applied extends Source {
  readonly config: Config;
  readonly targets: readonly CheckTarget[];
  readonly targetByKey: ReadonlyMap<string, CheckTarget>;
  /** flatline's own checks, then the configured healthchecks. */
  readonly checkNames: readonly CheckName[];
  readonly slugs: ReadonlySet<string>;
  readonly ruleOf: (slug: string) => SpikeRule;
  readonly settings: AlertingSettings;
  /** null: no second opinion is configured. */
  readonly looks: LookSettings | null;
  readonly receivers: readonly OutboxReceiver[];
  readonly receiverByName: ReadonlyMap<string, Receiver>;
}

/** The configuration that holds now, wired. */
export type Runtime = ReturnType<typeof createRuntime>;

type RuntimeDeps = Ground & Pick<SourceDeps, "onRequest" | "openLocal">;

/** Wires `config` with the parts that outlive a reload. */
export function createRuntime(config: Config, deps: RuntimeDeps) {
  let applied = wire(config, deps);
  return {
    current: (): Applied => applied,
    /** @throws FlatlineError when a receiver or the source cannot be created; nothing changes then */
    replace: (next: Config): void => {
      // Only one older version is kept, not those of all reloads.
      const { before: _older, ...settings } = applied.settings;
      const before = { settings, untilMs: deps.clock.nowMs() };
      applied = wire(withFixedParts(next, applied.config, deps.logger), deps, before);
    },
    /** Undoes a replacement that could not be applied. */
    restore: (before: Applied): void => {
      applied = before;
    },
    /** Runs a check with the current source; never rejects. */
    run: (target: CheckTarget, signal: AbortSignal) => runCheck(target, applied.checkDeps, signal),
    /** Runs a check for a probe; never rejects. */
    probe: (target: CheckTarget, signal: AbortSignal) => runCheck(target, applied.probeDeps, signal),
    /** Runs checks as a round; returns for each its report or the rest of its run; never rejects. */
    runRound: (targets: readonly CheckTarget[], signal: AbortSignal) => runRound(targets, applied.checkDeps, signal),
  };
}

function wire(config: Config, deps: RuntimeDeps, before?: AlertingSettings["before"]): Applied {
  const targets = checkTargets(config);
  const settings = { ...alertingSettings(config), ...(before === undefined ? {} : { before }) };
  const { store } = deps;
  const source = () => ({ parts: store, board: deps.board, settings, nowMs: deps.clock.nowMs() });
  const messages: IncidentMessages = {
    ...store.incidents,
    presentOf: (notification) => presentOf(source(), notification),
    firingOf: (notification) => firingOf(source(), notification),
  };
  const known = { ...deps, signLink: linkSigner(config), messages };
  const receivers = config.receivers.map((receiver): OutboxReceiver => {
    const { timeoutMs, maxAgeMs, rateLimit } = receiver;
    return { receiver: createReceiver(receiver, known), timeoutMs, maxAgeMs, rateLimit };
  });
  return {
    config,
    targets,
    targetByKey: new Map(targets.map((target) => [checkKey(target), target])),
    checkNames: [...new Set([...checkNames, ...targets.map(({ check }) => check)])],
    slugs: new Set(config.organizations.map(({ slug }) => slug)),
    ruleOf: ruleOf(config),
    settings,
    looks: lookSettingsOf(config),
    receivers,
    receiverByName: new Map(receivers.map(({ receiver }) => [receiver.name, receiver])),
    ...createSource(config, deps),
  };
}

/** Keeps the address, the store and the type of the source, which only a restart changes, and logs what it kept. */
function withFixedParts(next: Config, current: Config, logger: Logger): Config {
  const fixed = [
    ["server.listen", next.server.listen, current.server.listen],
    ["storage.path", next.storage.path, current.storage.path],
    ["storage.url", next.storage.url?.reveal(), current.storage.url?.reveal()],
    ["storage.poolSize", next.storage.poolSize, current.storage.poolSize],
    ["source.type", next.source.type, current.source.type],
  ] as const;
  const { path, url, poolSize } = current.storage;
  const changed = fixed.filter(([, wanted, held]) => wanted !== held).map(([path]) => path);
  if (changed.length > 0) logger.warn({ changed }, "these need a restart to change");
  return {
    ...next,
    server: { ...next.server, listen: current.server.listen },
    storage: { ...next.storage, path, url, poolSize },
    source: next.source.type === current.source.type ? next.source : current.source,
  };
}

/** Returns the signer of links; null: without `linkSecret` or `externalUrl`. */
function linkSigner(config: Config): NonNullable<ReceiverDeps["signLink"]> | null {
  const { linkSecret } = config.server;
  const { externalUrl } = config.alerting;
  if (linkSecret === null || externalUrl === null) return null;
  return (incident, receiver, nowMs) =>
    pageUrl(externalUrl, signActLink(linkSecret, { incident, receiver, expiresAtMs: nowMs + linkLifeMs }));
}

/** Returns the settings of second opinions; null: none is configured. */
function lookSettingsOf({ secondOpinion, organizations }: Config): LookSettings | null {
  if (secondOpinion === null) return null;
  const { url, file, timeoutMs, secret } = secondOpinion.verifier;
  const sign = createWebhookSigner([secret ?? []].flat());
  return {
    ...secondOpinion,
    verifier: url === null ? { file: file ?? "" } : { url, timeoutMs, sign },
    sentinelsOf: (slug) => organizations.find((one) => one.slug === slug)?.sentinel.assets ?? [],
  };
}

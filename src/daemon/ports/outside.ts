import { createOutsideActs } from "../../alerting/outside-acts.ts";
import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time.ts";
import type { Config } from "../../config/config.ts";
import { isSigned, readIncidentEvent } from "../../receivers/pagerduty/incident.ts";
import type { Store } from "../../store/store.ts";
import type { HooksPort } from "../../web/ports.ts";
import type { Runtime } from "../runtime.ts";

export interface OutsidePortsOptions {
  readonly store: Store;
  readonly runtime: Pick<Runtime, "current">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when an act changed something. */
  readonly onChange: () => void;
}

/** What comes back from where people read their messages, by the configuration that holds now. */
export function createOutsidePorts(options: OutsidePortsOptions): { readonly hooks: HooksPort } {
  const { store, runtime, clock, logger, onChange } = options;
  const config = (): Config => runtime.current().config;
  const acts = createOutsideActs({
    store,
    clock,
    settings: () => runtime.current().settings,
    onChange,
    acknowledgementOpensGate: (slug) => acknowledgementOpensGate(config(), slug),
  });
  return {
    hooks: {
      pagerduty: async ({ receiver: name, body, signature }) => {
        const receiver = config().receivers.find((one) => one.name === name);
        const secret = receiver?.type === "pagerduty" ? receiver.webhookSecret : null;
        if (secret === null || !isSigned(body, signature, secret)) return "unsigned";
        const event = readIncidentEvent(body);
        const outcome = event === null ? "ignored" : await acts.applyIncident(event);
        logger.info(
          { receiver: name, event: event?.kind ?? null, alertId: event?.incidentKey ?? null, outcome },
          "webhook of PagerDuty",
        );
        return outcome;
      },
    },
  };
}

/** Whether an acknowledgement releases the gate of an organization; of one that is gone, none does. */
export function acknowledgementOpensGate({ organizations }: Pick<Config, "organizations">, slug: string): boolean {
  return organizations.some((one) => one.slug === slug && one.gate.releaseOn.includes("acknowledged"));
}

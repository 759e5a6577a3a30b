import { readActLink, type ActLink, type GivenLink } from "../alerting/act-link.ts";
import { createOutsideActs, type OutsideOutcome } from "../alerting/outside-acts.ts";
import type { Secret } from "../base/secret.ts";
import type { Config } from "../config/config.ts";
import { isSigned, readIncidentEvent } from "../receivers/pagerduty/incident.ts";
import { worstSeverity } from "../contract/severity.ts";
import { deathWords } from "../contract/death-counts.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import type { Hooks } from "../web/api/hook-routes.ts";
import type { LinkAnswer, LinkView, Links } from "../web/pages/link.ts";
import type { Ground } from "./ground.ts";
import type { Runtime } from "./runtime.ts";

/** Creates the ports for acts by links and webhooks; `onChange` is called after an act that changed something. */
export function createOutsidePorts(
  ground: Ground,
  runtime: Runtime,
  onChange: () => void,
): { readonly hooks: Hooks; readonly links: Links } {
  const { clock, logger } = ground;
  const config = (): Config => runtime.current().config;
  const acts = createOutsideActs({ ...ground, settings: () => runtime.current().settings, onChange });

  async function answer(given: GivenLink, act: (link: ActLink) => Promise<OutsideOutcome>): Promise<LinkAnswer> {
    const secret = config().server.linkSecret;
    const link = secret === null ? "altered" : readActLink(secret, given, clock.nowMs());
    if (typeof link === "string") return link;
    // A reload removed the receiver: the readers of its channel may not act any more.
    if (!config().receivers.some(({ name }) => name === link.receiver)) return "expired";
    const { alerts } = await acts.foresee(link);
    const outcome = await act(link);
    return { ...link, outcome, subject: await subjectOf(link.incident, alerts) };
  }

  /** Returns the one organization that it is about, or the number of the incident's alerts. */
  async function subjectOf(incident: number, alerts: readonly Alert[]): Promise<LinkView["subject"]> {
    const [alert, ...others] = alerts;
    if (alert === undefined) return null;
    if (others.length === 0) return { name: alert.slug, severity: alert.severity, words: wordsOf(alert) };
    const words = `${alerts.length} of its alerts fire`;
    return { name: `incident ${incident}`, severity: worstSeverity(alerts.map(({ severity }) => severity)), words };
  }

  function wordsOf({ check, found }: Alert): string {
    const deaths = found?.deaths ?? null;
    if (deaths === null) return check;
    const { count: currentCount, expected: expectedCount, counting = "deaths" } = deaths;
    return deathWords({ currentCount, expectedCount, counting }) ?? check;
  }

  function webhookSecretOf(name: string): Secret | null {
    const receiver = config().receivers.find((one) => one.name === name);
    return receiver?.type === "pagerduty" ? receiver.webhookSecret : null;
  }

  return {
    links: {
      look: (given) => answer(given, async (link) => (await acts.foresee(link)).outcome),
      follow: (given, name) => answer(given, (link) => acts.follow(link, name)),
    },
    hooks: {
      isSigning: (name) => webhookSecretOf(name) !== null,
      pagerduty: async ({ receiver: name, body, signature }) => {
        const secret = webhookSecretOf(name);
        if (secret === null || !isSigned(body, signature, secret)) return "unsigned";
        const event = readIncidentEvent(body);
        const outcome = event === null ? "ignored" : await acts.applyIncident({ ...event, receiver: name });
        logger.info(
          { receiver: name, event: event?.kind ?? null, alertId: event?.incidentKey ?? null, outcome },
          "webhook of PagerDuty",
        );
        return outcome;
      },
    },
  };
}

import { linkActs, linkLifeMs, signActLink, type LinkAct } from "../alerting/act-link.ts";
import { opensGate } from "../alerting/outside-acts.ts";
import type { Config } from "../config/config.ts";
import type { SignLinks } from "../receivers/act-links.ts";
import { acknowledgementOpensGate } from "./ports/outside.ts";

const labels: Readonly<Record<LinkAct, string>> = { acknowledge: "Acknowledge", silence: "Silence 1 h" };

/** Signs links by the configuration; null: it has no secret for them, or no `externalUrl`. */
export function linkSigner(config: Config): SignLinks | null {
  const { linkSecret } = config.server;
  const { externalUrl } = config.alerting;
  if (linkSecret === null || externalUrl === null) return null;
  return (alert, receiver, nowMs) =>
    linkActs
      .filter((act) => act !== "acknowledge" || !opensGate(alert, (slug) => acknowledgementOpensGate(config, slug)))
      .map((act) => {
        const path = signActLink(linkSecret, { act, alertId: alert.id, receiver, expiresAtMs: nowMs + linkLifeMs });
        return { label: labels[act], url: `${externalUrl.replace(/\/$/, "")}/${path}` };
      });
}

import { isCidr } from "../look/addresses.ts";
import { hostOf } from "../look/names.ts";
import type { LookSettings } from "../look/settings.ts";
import { Secret } from "../base/secret.ts";
import type { Config } from "../config/config.ts";
import { createWebhookSigner } from "../receivers/webhook/signature.ts";

/** Returns what second opinions are made with; null: none is configured. */
export function lookSettingsOf(config: Config): LookSettings | null {
  const { secondOpinion, organizations } = config;
  if (secondOpinion === null) return null;
  const { sample, control, againMs, dns, http, verifier, recorded } = secondOpinion;
  const signer = createWebhookSigner([verifier?.secret ?? []].flat());
  return {
    sample,
    control,
    againMs,
    dns: dns === null ? null : { servers: dns.servers ?? [] },
    http: http === null ? null : { ...http, allow: (http.allow ?? []).map(blockOf) },
    verifier: verifier === null ? null : { ...verifier, sign: (message) => signer.headers(message) },
    recorded,
    hosts: [...hostsOf(config)],
    sentinelsOf: (slug) => organizations.find((one) => one.slug === slug)?.sentinel.assets ?? [],
  };
}

/** A single address is a block of one. */
function blockOf(range: string): string {
  return isCidr(range) ? range : `${range}/${range.includes(":") ? 128 : 32}`;
}

/** The hosts of every address that the configuration has: more than are promised, and none that is added later is forgotten. */
function hostsOf(config: Config): ReadonlySet<string> {
  const { source, discover, receivers, alerting, heartbeat, storage, secondOpinion, appUrl } = config;
  const hosts = new Set<string>();
  const collect = (value: unknown): void => {
    const text = value instanceof Secret ? value.reveal() : value;
    if (typeof text === "string") {
      if (!URL.canParse(text)) return;
      const host = hostOf(new URL(text)).toLowerCase();
      if (host !== "") hosts.add(host);
    } else if (typeof text === "object" && text !== null) for (const child of Object.values(text)) collect(child);
  };
  collect([source, discover.map(({ location }) => location), receivers, alerting, heartbeat, storage, appUrl]);
  collect([secondOpinion?.http?.proxy, secondOpinion?.verifier?.url]);
  return hosts;
}

import type { Config } from "../config/config.ts";
import type { LookSettings } from "../look/looks.ts";
import { createWebhookSigner } from "../receivers/webhook/signature.ts";

/** Returns what second opinions are made with; null: none is configured. */
export function lookSettingsOf({ secondOpinion, organizations }: Config): LookSettings | null {
  if (secondOpinion === null) return null;
  const { url, file, timeoutMs, secret } = secondOpinion.verifier;
  const signer = createWebhookSigner([secret ?? []].flat());
  return {
    ...secondOpinion,
    verifier: url === null ? { file: file ?? "" } : { url, timeoutMs, sign: (message) => signer.headers(message) },
    sentinelsOf: (slug) => organizations.find((one) => one.slug === slug)?.sentinel.assets ?? [],
  };
}

import { Webhook } from "standardwebhooks";

import type { Secret } from "../../base/secret.ts";

const encodedPrefix = "whsec_";

/** Signs bodies as Standard Webhooks does, with every secret that is valid now. */
export interface WebhookSigner {
  /** webhook-id, webhook-timestamp and, when there is a secret, webhook-signature: one `v1,…` a secret, space between them. */
  headers(message: { readonly id: string; readonly atMs: number; readonly body: string }): Record<string, string>;
}

/** Creates a signer for secrets that the configuration has accepted. */
export function createWebhookSigner(secrets: readonly Secret[]): WebhookSigner {
  const signers = secrets.map((secret) => new Webhook(keyOf(secret.reveal()), { format: "raw" }));
  return {
    headers: ({ id, atMs, body }) => {
      const signatures = signers.map((signer) => signer.sign(id, new Date(atMs), body));
      return {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(atMs / 1_000)),
        ...(signatures.length === 0 ? {} : { "webhook-signature": signatures.join(" ") }),
      };
    },
  };
}

/** Returns the key in a secret that checkSigningSecret has accepted. */
function keyOf(secret: string): Uint8Array {
  return secret.startsWith(encodedPrefix)
    ? Buffer.from(secret.slice(encodedPrefix.length), "base64")
    : Buffer.from(secret, "utf8");
}

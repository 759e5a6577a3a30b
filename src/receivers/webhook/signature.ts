import { Webhook } from "standardwebhooks";

import type { Secret } from "../../base/secret.ts";

/** Returns a signer for Standard Webhooks headers, with a signature per secret; without a secret there is none. */
export function createWebhookSigner(secrets: readonly Secret[]) {
  const signers = secrets.map((secret) => new Webhook(keyOf(secret.reveal()), { format: "raw" }));
  return ({ id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string }) => {
    const signatures = signers.map((signer) => signer.sign(id, new Date(atMs), body));
    return {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(atMs / 1_000)),
      ...(signatures.length === 0 ? {} : { "webhook-signature": signatures.join(" ") }),
    };
  };
}

/** `secret` has passed checkSigningSecret. */
function keyOf(secret: string): Uint8Array {
  return secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
}

import { Webhook } from "standardwebhooks";

import { FlatlineError } from "../../base/errors.ts";
import type { Secret } from "../../base/secret.ts";

const encodedPrefix = "whsec_";
// Standard Webhooks (spec, Signature scheme): keys of 24 to 64 bytes; plain ones of at least 16 by CONTRACT 7.
const encodedKeyBytes = { min: 24, max: 64 };
const minPlainKeyBytes = 16;

/** Signs bodies as Standard Webhooks does, with every secret that is valid now. */
export interface WebhookSigner {
  /** webhook-id, webhook-timestamp and, when there is a secret, webhook-signature: one `v1,…` a secret, space between them. */
  headers(message: { readonly id: string; readonly atMs: number; readonly body: string }): Record<string, string>;
}

/** @throws FlatlineError invalid_config for a secret that is no key; the message does not hold it */
export function createWebhookSigner(name: string, secrets: readonly Secret[]): WebhookSigner {
  const signers = secrets.map((secret) => new Webhook(keyOf(name, secret.reveal()), { format: "raw" }));
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

function keyOf(name: string, secret: string): Uint8Array {
  if (!secret.startsWith(encodedPrefix)) {
    const key = Buffer.from(secret, "utf8");
    if (key.length >= minPlainKeyBytes) return key;
    throw new FlatlineError(
      "invalid_config",
      `receiver ${name}: a plain secret needs at least ${minPlainKeyBytes} bytes`,
    );
  }
  const encoded = secret.slice(encodedPrefix.length);
  const key = Buffer.from(encoded, "base64");
  const isBase64 = key.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
  if (isBase64 && key.length >= encodedKeyBytes.min && key.length <= encodedKeyBytes.max) return key;
  throw new FlatlineError(
    "invalid_config",
    `receiver ${name}: a secret that begins with whsec_ goes on with base64 of ${encodedKeyBytes.min} to ${encodedKeyBytes.max} bytes`,
  );
}

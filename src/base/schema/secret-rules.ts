import { checkHttpUrl, headerNamePattern } from "./values.ts";

/** What is expected of a secret. */
export interface SecretRule {
  readonly key: string;
  /** What is wrong with a value; null when nothing is. Never shows it. */
  readonly check: (value: string) => string | null;
  readonly isRequired?: boolean;
  /** An empty one is as if it were absent. */
  readonly mayBeEmpty?: boolean;
}

/** The address of a service of HTTP that has to be there. */
export const requiredUrl: SecretRule = { key: "url", check: checkHttpUrl, isRequired: true };

const printable = /^[\u0021-\u007e]+$/;

/** Returns the fault of a key or token that goes into a header; null if there is none. */
export function checkKey(value: string): string | null {
  return printable.test(value) ? null : "must be printable ASCII without blanks or line ends";
}

// Standard Webhooks, section "Signature scheme": 24 to 64 bytes for a symmetric key.
const minKeyBytes = 24;
const maxKeyBytes = 64;
const minPlainBytes = 16;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Returns the fault of a signing secret (CONTRACT 7: `whsec_` and base64, or plain text); null if there is none. */
export function checkSigningSecret(value: string): string | null {
  if (value.startsWith("whsec_")) {
    const encoded = value.slice("whsec_".length);
    const bytes = base64.test(encoded) ? Buffer.from(encoded, "base64").length : 0;
    if (bytes >= minKeyBytes && bytes <= maxKeyBytes) return null;
    return `must have base64 of ${minKeyBytes} to ${maxKeyBytes} bytes after whsec_`;
  }
  if (Buffer.byteLength(value) >= minPlainBytes) return null;
  return `must be whsec_ and base64, or at least ${minPlainBytes} bytes long`;
}

// What a header may hold (RFC 9110, 5.5), in UTF-8; blanks around it are none of it.
const headerValue = /^(?!\s)(?:\t|\P{Cc})*(?<!\s)$/u;
const ownHeaders = [
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
];

/** Returns the fault of an operator's header; null if there is none. Never shows the value. */
export function checkHeaders(name: string, value: string): string | null {
  if (!headerNamePattern.test(name)) return "is no name of a header";
  if (name.toLowerCase() === "content-type") return "is set by contentType";
  if (ownHeaders.includes(name.toLowerCase())) return "is a header that flatline sets itself";
  return headerValue.test(value) ? null : "must hold no control characters, and no blanks around it";
}

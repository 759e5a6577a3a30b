import { z } from "zod";

import { Secret } from "../secret.ts";
import { headerNamePattern } from "./values.ts";

/** Says what is wrong with a secret, null when nothing is, and never shows it. */
type Check = (value: string) => string | null;

/** Returns a text that is read as a secret. Its rule looks at what is read only: a secret is written as `***`. */
export function secret(check: Check, text = z.string()) {
  return z.codec(text, z.custom<Secret>(), {
    decode: (value, context) => read(value, value === "" ? "must not be empty" : check(value), context),
    encode: String,
  });
}

/** Returns a secret that may be absent; a key without a value is as wrong as an empty one. */
export function optionalSecret(check: Check) {
  const text = z.string({ error: ({ input }) => (input === undefined ? "must not be empty" : undefined) });
  return secret(check, text).exactOptional() as unknown as z.ZodOptional<ReturnType<typeof secret>>;
}

/** Returns a secret that may be absent or empty: then there is none. */
export function secretOrNone(check: Check) {
  return z
    .codec(z.string(), z.custom<Secret | null>(), {
      decode: (value, context) => (value === "" ? null : read(value, check(value), context)),
      encode: String,
    })
    .optional();
}

function read(value: string, problem: string | null, context: z.core.ParsePayload): Secret {
  // What is wrong with a secret hides nothing that is wrong between it and other keys.
  if (problem !== null) context.issues.push({ code: "custom", input: value, message: problem, continue: true });
  return new Secret(value);
}

/** Returns a secret, or a list of at most so many, which are read as a list. */
export function secrets(check: Check, most: number) {
  const one = secret(check);
  const many = z.array(one).min(1).max(most);
  return z.codec(z.union([one, many]), z.custom<readonly Secret[]>(), {
    decode: (value) => (Array.isArray(value) ? value : [value]),
    encode: (value) => {
      // Of an absent key this is asked for, too, and of no effect.
      const all = [value].flat();
      return (all.length === 1 ? all[0] : undefined) ?? all;
    },
  });
}

/** Returns secrets that may be absent, as for `optionalSecret`. */
export function optionalSecrets(check: Check, most: number) {
  return secrets(check, most).exactOptional() as unknown as z.ZodOptional<ReturnType<typeof secrets>>;
}

/** Returns headers of the operator's making, whose values are secrets; their names are read in small letters. */
export function secretHeaders() {
  const texts = z.record(z.string(), z.string()).superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const problem = checkHeader(name, value);
      if (problem !== null) context.addIssue({ code: "custom", path: [name], message: problem });
    }
  });
  return z
    .codec(texts, z.custom<Readonly<Record<string, Secret>>>(), {
      decode: (headers) =>
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), new Secret(value)])),
      encode: (headers) => Object.fromEntries(Object.keys(headers).map((name) => [name, "***"])),
    })
    .optional();
}

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

function checkHeader(name: string, value: string): string | null {
  if (!headerNamePattern.test(name)) return "is no name of a header";
  if (name.toLowerCase() === "content-type") return "is set by contentType";
  if (ownHeaders.includes(name.toLowerCase())) return "is a header that flatline sets itself";
  return headerValue.test(value) ? null : "must hold no control characters, and no blanks around it";
}

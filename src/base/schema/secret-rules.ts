import { z } from "zod";

import { Secret } from "../secret.ts";
import { readAs } from "./section.ts";
import { headerNamePattern } from "./values.ts";

/** Returns the fault of a secret, without showing it; null: there is none. */
type Check = (value: string) => string | null;

/** Reads a text as a secret and writes it as `***`, which `check` never sees. */
export function secret(check: Check, text = z.string()) {
  return z.codec(text, z.custom<Secret>(), {
    decode: (value, context) => read(value, value === "" ? "must not be empty" : check(value), context),
    encode: String,
  });
}

/** A secret that may be absent; a key without a value is wrong, as an empty one is. */
export function optionalSecret(check: Check) {
  const text = z.string({ error: ({ input }) => (input === undefined ? "must not be empty" : undefined) });
  return secret(check, text).exactOptional() as unknown as z.ZodOptional<ReturnType<typeof secret>>;
}

/** A secret that may be absent or empty; both mean that there is none. */
export function secretOrNone(check: Check) {
  return z
    .codec(z.string(), z.custom<Secret | null>(), {
      decode: (value, context) => (value === "" ? null : read(value, check(value), context)),
      encode: String,
    })
    .optional();
}

function read(value: string, problem: string | null, context: z.core.ParsePayload): Secret {
  // Continues, so that rules between keys also report their problems.
  if (problem !== null) context.issues.push({ code: "custom", input: value, message: problem, continue: true });
  return new Secret(value);
}

/** One secret, or a list of 1 to `most`; both are read as a list. */
export function secrets(check: Check, most: number) {
  const one = secret(check);
  return readAs(
    z.union([one, z.array(one).min(1).max(most)]),
    (said): readonly Secret[] => [said].flat(),
    (read) => {
      // zod also calls this for an absent key, and ignores the result.
      const all = [read].flat();
      return (all.length === 1 ? all[0] : undefined) ?? all;
    },
  );
}

/** Secrets that may be absent, as for `optionalSecret`. */
export function optionalSecrets(check: Check, most: number) {
  return secrets(check, most).exactOptional() as unknown as z.ZodOptional<ReturnType<typeof secrets>>;
}

/** Headers of the operator's making: values are secrets, names are read in lower case. */
export function secretHeaders() {
  const texts = z.record(z.string(), z.string()).superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const problem = checkHeader(name, value);
      if (problem !== null) context.addIssue({ code: "custom", path: [name], message: problem });
    }
  });
  return readAs(
    texts,
    (headers): Readonly<Record<string, Secret>> =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), new Secret(value)])),
    (headers) => Object.fromEntries(Object.keys(headers).map((name) => [name, "***"])),
  ).optional();
}

const printable = /^[\u0021-\u007e]+$/;

/** Returns the fault of a key or token for a header; null: there is none. */
export function checkKey(value: string): string | null {
  return printable.test(value) ? null : "must be printable ASCII without blanks or line ends";
}

// Standard Webhooks, section "Signature scheme": 24 to 64 bytes for a symmetric key.
const minKeyBytes = 24;
const maxKeyBytes = 64;
const minPlainBytes = 16;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Returns the fault of a signing secret (CONTRACT 7: `whsec_` and base64, or plain text); null: there is none. */
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

// A header value (RFC 9110, 5.5) in UTF-8, without blanks around it.
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

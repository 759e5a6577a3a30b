import { hash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

const mask = "***";

/** A value that no log, error, page or JSON shows: it prints as `***`, and only `reveal` returns it. */
export class Secret {
  readonly #value: string;
  #digest: Buffer | null = null;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the plain value, for a header or signature, never for a message. */
  reveal(): string {
    return this.#value;
  }

  /** Compares in constant time; hashing both sides first hides their lengths. */
  equals(candidate: string): boolean {
    return timingSafeEqual((this.#digest ??= sha256(this.#value)), sha256(candidate));
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}

/** Replaces the secrets in `text` with `***`: an upstream may echo what it received. */
export function redact(text: string, secrets: readonly Secret[]): string {
  const echoed = secrets.flatMap((secret) => formsOf(secret).filter((form) => text.includes(form)));
  // Longest first: replacing a part first would leave the rest readable.
  echoed.sort((left, right) => right.length - left.length);
  return echoed.reduce((redacted, form) => redacted.replaceAll(form, mask), text);
}

/** Returns whether `text` contains a secret, in any form that `redact` replaces. */
export function holdsSecret(text: string, secrets: readonly Secret[]): boolean {
  return secrets.some((secret) => formsOf(secret).some((form) => text.includes(form)));
}

const knownForms = new WeakMap<Secret, readonly string[]>();

/** Returns the value plain, URL-encoded and JSON-encoded; an empty value has no form. */
function formsOf(secret: Secret): readonly string[] {
  const known = knownForms.get(secret);
  if (known !== undefined) return known;
  const value = secret.reveal();
  const forms =
    value === "" ? [] : [...new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])];
  knownForms.set(secret, forms);
  return forms;
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

import { createHash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

const mask = "***";

/** A value that no log, error, page or JSON shows: it prints as `***` everywhere; `reveal` is the one way to it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The plain value; for the header or signature that needs it, never for a message. */
  reveal(): string {
    return this.#value;
  }

  /** Whether `candidate` is this secret, in time that depends on neither (both are hashed first, so lengths do not show). */
  equals(candidate: string): boolean {
    return timingSafeEqual(sha256(this.#value), sha256(candidate));
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

/** `text` with every occurrence of the secrets' values replaced by `***`: an upstream may echo what it was sent. */
export function redact(text: string, secrets: readonly Secret[]): string {
  const echoed = secrets.flatMap((secret) => formsOf(secret).filter((form) => text.includes(form)));
  // The longest first: one that is replaced within another would leave the rest of that readable.
  const forms = echoed.length > 1 ? echoed.toSorted((left, right) => right.length - left.length) : echoed;
  return forms.reduce((redacted, form) => redacted.replaceAll(form, mask), text);
}

/** Whether `text` holds a secret's value in any of the forms that `redact` replaces. */
export function holdsSecret(text: string, secrets: readonly Secret[]): boolean {
  return secrets.some((secret) => formsOf(secret).some((form) => text.includes(form)));
}

const knownForms = new WeakMap<Secret, readonly string[]>();

/** The value as it is, in a URL and in JSON; none of an empty one. */
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
  return createHash("sha256").update(text).digest();
}

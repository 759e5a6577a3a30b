import { FlatlineError } from "../../../src/base/errors.ts";
import type { StoreParts } from "../../../src/store/store-parts.ts";
import type { Store } from "../../../src/store/store.ts";

/** What a store does with one call instead of doing it. */
export type StoreFault = "rejects" | "hangs";

/** A store of which one call can fail: the nth from a moment on, whichever that is. */
export interface FaultyStore {
  readonly store: Store;
  /** Begins to count; `fault` is for the call of this number, from 0. */
  arm(number: number, fault: StoreFault): void;
  /** The calls since then by name, as "outbox.releaseLeases", or "transaction: alerts.put" within one. */
  calls(): readonly string[];
}

/** Puts the faults before every method of `real`, of its parts, and of the parts within a transaction. */
export function createFaultyStore(real: Store): FaultyStore {
  const calls: string[] = [];
  let armed: { readonly number: number; readonly fault: StoreFault } | null = null;

  async function ask<Answer>(name: string, call: () => Promise<Answer>): Promise<Answer> {
    if (armed === null) return call();
    calls.push(name);
    if (calls.length - 1 !== armed.number) return call();
    if (armed.fault === "hangs") return new Promise(() => undefined);
    throw new FlatlineError("store_unusable", "the store cannot be used: the disk is full");
  }

  function wrapMethods<Part extends object>(part: Part, prefix: string): Part {
    return new Proxy(part, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function" || typeof key !== "string") return value;
        return (...given: unknown[]) =>
          ask(`${prefix}${key}`, () => Reflect.apply(value, target, given) as Promise<unknown>);
      },
    });
  }

  function wrapParts<Parts extends StoreParts>(parts: Parts, prefix: string): Parts {
    return new Proxy(parts, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        return typeof value === "object" && value !== null ? wrapMethods(value, `${prefix}${String(key)}.`) : value;
      },
    });
  }

  const store = {
    ...wrapParts(real, ""),
    transaction: (work) =>
      ask("transaction", () => real.transaction((parts) => work(wrapParts(parts, "transaction: ")))),
    takeWriter: (options) => ask("takeWriter", () => real.takeWriter(options)),
    exclusively: (name, work) => ask("exclusively", () => real.exclusively(name, work)),
    nowMs: () => ask("nowMs", () => real.nowMs()),
    bytes: () => ask("bytes", () => real.bytes()),
    close: () => ask("close", () => real.close()),
  } satisfies Store;
  return {
    store,
    arm: (number, fault) => {
      armed = { number, fault };
      calls.length = 0;
    },
    calls: () => calls,
  };
}

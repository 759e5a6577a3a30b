import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

import type { Secret } from "../../base/secret.ts";

const derive: (secret: string, salt: Buffer, length: number) => Promise<unknown> = promisify(scrypt);
const saltBytes = 16;
const hashBytes = 32;

/**
 * Proofs of secrets, for sessions to know theirs again after any number of reloads and restarts: a salt and what scrypt makes of
 * it, some 40 ms of a thread each, so that a weak secret cannot be guessed fast by who reads the store. Each is made once per
 * `Secret`, of which a reload makes new ones.
 */
export function createTokenProofs() {
  const known = new WeakMap<Secret, Map<string, Promise<boolean>>>();
  const own = new WeakMap<Secret, Promise<string>>();

  async function make(secret: Secret): Promise<string> {
    const salt = randomBytes(saltBytes);
    const proof = `${salt.toString("base64url")}.${(await hash(secret, salt)).toString("base64url")}`;
    answersOf(secret).set(proof, Promise.resolve(true));
    return proof;
  }

  async function check(proof: string, secret: Secret): Promise<boolean> {
    const [salt = "", expected = ""] = proof.split(".").map((part) => Buffer.from(part, "base64url"));
    if (expected.length !== hashBytes) return false;
    const isHeld = timingSafeEqual(await hash(secret, Buffer.from(salt)), Buffer.from(expected));
    // The sessions to come have the same, so that there is one to check.
    if (isHeld && !own.has(secret)) own.set(secret, Promise.resolve(proof));
    return isHeld;
  }

  function answersOf(secret: Secret): Map<string, Promise<boolean>> {
    const answers = known.get(secret) ?? new Map<string, Promise<boolean>>();
    known.set(secret, answers);
    return answers;
  }

  return {
    /** The proof of a secret. */
    of: (secret: Secret): Promise<string> => {
      const proof = own.get(secret) ?? make(secret);
      own.set(secret, proof);
      return proof;
    },
    /** Whether it is a proof of this secret. */
    isOf: (proof: string, secret: Secret): Promise<boolean> => {
      const answers = answersOf(secret);
      const answer = answers.get(proof) ?? check(proof, secret);
      answers.set(proof, answer);
      return answer;
    },
  };
}

async function hash(secret: Secret, salt: Buffer): Promise<Buffer> {
  return (await derive(secret.reveal(), salt, hashBytes)) as Buffer;
}

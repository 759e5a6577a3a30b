import { createHmac, timingSafeEqual } from "node:crypto";

import type { Secret } from "../base/secret.ts";
import { dayMs } from "../base/time.ts";

/** A link of a message that acknowledges an incident; it was signed here and holds. */
export interface ActLink {
  /** The same for the same link; not the link itself, which nothing keeps. */
  readonly id: string;
  readonly incident: number;
  readonly receiver: string;
  readonly expiresAtMs: number;
}

/** The parts of a link's address as they came. */
export interface GivenLink {
  readonly incident: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** CONTRACT 13: from the attempt that sends it. */
export const linkLifeMs = dayMs;

/** Returns the path and query of a link, to be put behind the address by which people reach flatline. */
export function signActLink(secret: Secret, { incident, receiver, expiresAtMs }: Omit<ActLink, "id">): string {
  const until = String(expiresAtMs);
  const signature = sign(secret, { incident: String(incident), receiver, until });
  return `act/acknowledge/${incident}?${new URLSearchParams({ receiver, until, signature }).toString()}`;
}

/** Reads a link: what was not signed so is `altered`, also for another incident; what was signed and is over, `expired`. */
export function readActLink(secret: Secret, given: GivenLink, nowMs: number): ActLink | "altered" | "expired" {
  const expected = Buffer.from(sign(secret, given));
  const signature = Buffer.from(given.signature);
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return "altered";
  const expiresAtMs = Number(given.until);
  if (nowMs >= expiresAtMs) return "expired";
  return { id: idOf(secret, given.signature), incident: Number(given.incident), receiver: given.receiver, expiresAtMs };
}

function sign(secret: Secret, { incident, receiver, until }: Omit<GivenLink, "signature">): string {
  const text = JSON.stringify(["flatline link 1", "acknowledge", incident, receiver, until]);
  return createHmac("sha256", secret.reveal()).update(text).digest("base64url");
}

/** The signature can't be computed from the id. */
function idOf(secret: Secret, signature: string): string {
  return createHmac("sha256", secret.reveal()).update(`used ${signature}`).digest("base64url");
}

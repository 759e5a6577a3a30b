import { createHmac, timingSafeEqual } from "node:crypto";

import type { Secret } from "../base/secret.ts";
import { dayMs } from "../base/time.ts";

/** A valid link that acknowledges an incident. */
export interface ActLink {
  /** The same for the same link. The link itself is not stored. */
  readonly id: string;
  readonly incident: number;
  readonly receiver: string;
  readonly expiresAtMs: number;
}

export interface GivenLink {
  readonly incident: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** From the attempt that sends it (CONTRACT 13). */
export const linkLifeMs = dayMs;

/** Returns the path and query of a link; put it behind flatline's external address. */
export function signActLink(secret: Secret, { incident, receiver, expiresAtMs }: Omit<ActLink, "id">): string {
  const until = String(expiresAtMs);
  const signature = sign(secret, { incident: String(incident), receiver, until });
  return `act/acknowledge/${incident}?${new URLSearchParams({ receiver, until, signature }).toString()}`;
}

/** Reads a link. `altered`: the signature is wrong; `expired`: the signature is right, but it is too old. */
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

/** Nobody can compute the signature from the id. */
function idOf(secret: Secret, signature: string): string {
  return createHmac("sha256", secret.reveal()).update(`used ${signature}`).digest("base64url");
}

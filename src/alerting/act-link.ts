import { createHmac, timingSafeEqual } from "node:crypto";

import type { Secret } from "../base/secret.ts";
import { dayMs } from "../base/time.ts";

/** What a link of a message does. */
export const linkActs = ["acknowledge", "silence"] as const;
export type LinkAct = (typeof linkActs)[number];

/** A link that was signed here and holds. */
export interface ActLink {
  /** The same for the same link; not the link itself, which nothing keeps. */
  readonly id: string;
  readonly act: LinkAct;
  readonly alertId: string;
  /** The receiver that it was sent to. */
  readonly receiver: string;
  readonly expiresAtMs: number;
}

/** The parts of a link's address as they came. */
export interface GivenLink {
  readonly act: string;
  readonly alertId: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** CONTRACT 13: from the attempt that sends it. */
export const linkLifeMs = dayMs;

/** Returns the path and query of a link, to be put behind the address by which people reach flatline. */
export function signActLink(secret: Secret, link: Omit<ActLink, "id">): string {
  const until = String(link.expiresAtMs);
  const query = new URLSearchParams({ receiver: link.receiver, until, signature: sign(secret, { ...link, until }) });
  return `act/${link.act}/${encodeURIComponent(link.alertId)}?${query.toString()}`;
}

/** Reads a link: what was not signed so is `altered`, also for another alert or act; what was signed and is over, `expired`. */
export function readActLink(secret: Secret, given: GivenLink, nowMs: number): ActLink | "altered" | "expired" {
  const act = linkActs.find((one) => one === given.act);
  const expected = Buffer.from(sign(secret, given));
  const signature = Buffer.from(given.signature);
  const isSigned = signature.length === expected.length && timingSafeEqual(signature, expected);
  if (!isSigned || act === undefined) return "altered";
  const expiresAtMs = Number(given.until);
  if (nowMs >= expiresAtMs) return "expired";
  const { alertId, receiver } = given;
  return { id: idOf(secret, given.signature), act, alertId, receiver, expiresAtMs };
}

function sign(secret: Secret, { act, alertId, receiver, until }: Omit<GivenLink, "signature">): string {
  const text = JSON.stringify(["flatline link 1", act, alertId, receiver, until]);
  return createHmac("sha256", secret.reveal()).update(text).digest("base64url");
}

/** The signature can't be computed from the id. */
function idOf(secret: Secret, signature: string): string {
  return createHmac("sha256", secret.reveal()).update(`used ${signature}`).digest("base64url");
}

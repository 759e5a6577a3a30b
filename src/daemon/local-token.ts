import { rmSync, writeFileSync } from "node:fs";

import type { Logger } from "../base/logger.ts";
import type { Secret } from "../base/secret.ts";

/** Returns where a running daemon leaves the token for commands on this machine: who can read the store's folder needs no other. */
export function localTokenPath(storePath: string): string {
  return `${storePath}.token`;
}

/** Writes it there; returns what removes it. */
export function offerLocalToken(storePath: string, token: Secret, logger: Logger): () => Promise<void> {
  const path = localTokenPath(storePath);
  const remove = (): void => rmSync(path, { force: true });
  try {
    // A file that is there would keep its mode, and one that is a link would be written elsewhere.
    remove();
    writeFileSync(path, token.reveal(), { mode: 0o600, flag: "wx" });
  } catch (error) {
    logger.warn({ err: error, file: path }, "commands on this machine need a token of the configuration");
  }
  return async () => remove();
}

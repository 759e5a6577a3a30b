import { rmSync, writeFileSync } from "node:fs";

import type { Logger } from "../base/logger.ts";
import type { Secret } from "../base/secret.ts";

/** Returns the file in which a running daemon leaves its token for commands on this machine. */
export function localTokenPath(storePath: string): string {
  return `${storePath}.token`;
}

/** Writes the token to its file; returns the function that removes it. */
export function offerLocalToken(storePath: string, token: Secret, logger: Logger): () => Promise<void> {
  const path = localTokenPath(storePath);
  const remove = (): void => rmSync(path, { force: true });
  try {
    // An existing file would keep its mode, and a link would be followed.
    remove();
    writeFileSync(path, token.reveal(), { mode: 0o600, flag: "wx" });
  } catch (error) {
    logger.warn({ err: error, file: path }, "commands on this machine need a token of the configuration");
  }
  return async () => remove();
}

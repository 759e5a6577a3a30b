import { Option } from "commander";

import { withDaemon, type DaemonClient } from "../commands/daemon-client.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext } from "./context.ts";

/** Flags of a command that asks the running daemon. */
export interface DaemonFlags {
  readonly config?: string;
  readonly url?: string;
  readonly json?: boolean;
}

/** Returns `--config`, where it only says how the daemon is reached. */
export function daemonConfigFlag(): Option {
  return new Option("-c, --config <file>", "configuration file, for server.listen and server.token");
}

/** Returns `--url`. */
export function daemonUrlFlag(): Option {
  return new Option("--url <url>", "address of the daemon, in place of server.listen");
}

/** Asks the daemon that the flags name. @throws what withDaemon does, and invalid_config */
export async function askDaemon<Answer>(
  flags: DaemonFlags,
  context: CliContext,
  ask: (daemon: DaemonClient) => Promise<Answer>,
): Promise<Answer> {
  const config = await loadCommandConfig(flags.config, context);
  return withDaemon(config, { ...context, url: flags.url ?? null }, ask);
}

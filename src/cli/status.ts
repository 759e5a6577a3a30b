import type { Command } from "commander";
import { withDaemon } from "./daemon-client.ts";
import { renderStatus } from "./status-screen.ts";
import { hasColour, type CliContext, type RegisterCommand } from "./context.ts";
import { daemonConfigFlag, daemonTokenFlag, daemonUrlFlag, findDaemon, type DaemonFlags } from "./daemon-flags.ts";
import { severityExitCodes } from "./severity-exit-codes.ts";

/** `flatline status`, through the running daemon's HTTP API. */
export const registerStatus: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("status")
    .description("print the state of the running daemon on one screen: what fires, gate, receivers, runs, store")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .option("--json", "print the answer of GET /api/v1/status")
    .addHelpText("after", help)
    .action(async (flags: DaemonFlags) => {
      const found = await findDaemon(flags, context);
      const status = await withDaemon(found, context, (daemon) => daemon.status());
      const screen = renderStatus(status, { isColoured: hasColour(context.stdout, context.env), url: found.url });
      context.stdout.write(flags.json === true ? `${JSON.stringify(status, null, 2)}\n` : screen);
      context.setExitCode(severityExitCodes[status.severity]);
    });
};

const help = `
Exit code, as of \`check\`: 0 ok, 1 warn, 2 fail, 3 unknown; the worst of all (fail > unknown > warn > ok). 69 no daemon answers,
77 reading is closed and the token is missing or wrong.

Examples:
  flatline status
  watch -c -n 10 flatline status
  flatline status --json | jq .receivers
`;

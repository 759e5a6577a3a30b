import type { Command } from "commander";
import { statusSchema } from "../contract/v1/status.ts";
import { renderStatus } from "./status-screen.ts";
import { hasColour, type CliContext, type RegisterCommand } from "./context.ts";
import { askingCommand } from "./ask.ts";
import { severityExitCodes } from "./values.ts";

/** `flatline status`. */
export const registerStatus: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("status")
    .description("print the state of the running daemon on one screen: what fires, gate, receivers, runs, store");
  askingCommand(command, context, {
    json: "print the answer of GET /api/v1/status",
    help,
    ask: (api) => api.read("/api/v1/status", statusSchema),
    say: (status, { url }) => renderStatus(status, { isColoured: hasColour(context.stdout, context.env), url }),
    exitCode: ({ severity }) => severityExitCodes[severity],
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

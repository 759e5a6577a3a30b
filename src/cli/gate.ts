import type { Command } from "commander";
import type { Gate } from "../commands/daemon-answers.ts";
import { withDaemon } from "../commands/daemon-client.ts";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { loadCommandConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";

interface GateFlags {
  readonly config?: string;
  readonly url?: string;
  readonly json?: boolean;
}

interface ReleaseFlags extends GateFlags {
  readonly comment: string;
  readonly by?: string;
  readonly all?: boolean;
}

/** `flatline gate SLUG` and `flatline gate release`, through the running daemon's HTTP API. */
export const registerGate: RegisterCommand = (program: Command, context: CliContext): void => {
  const gate = program
    .command("gate")
    .description("whether an organization's deaths may be acted on, and releasing it")
    .argument("<slug>", "an organization")
    .option("-c, --config <file>", "configuration file, for server.listen and server.token")
    .option("--url <url>", "address of the daemon, in place of server.listen")
    .option("--json", "print {slug, decision, reason, message, check, alertId, since, suspectFrom, releases}")
    .addHelpText("after", gateHelp)
    .action(async (slug: string, flags: GateFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const found = await withDaemon(config, { ...context, url: flags.url ?? null }, (daemon) =>
        daemon.gate(slug),
      ).catch(refuseUnanswered);
      context.stdout.write(flags.json === true ? `${JSON.stringify(found, null, 2)}\n` : render(found));
      context.setExitCode(found.decision === "allow" ? 0 : 1);
    });
  addRelease(gate, context);
};

const gateHelp = `
Exit code: 0 allow, 1 hold, 64 no such organization, 69 no answer, 77 not allowed to ask. Only 0 allows.

Examples:
  flatline gate acme && ./delist-the-dead acme
  flatline gate acme --json | jq -r .suspectFrom
`;

function addRelease(parent: Command, context: CliContext): void {
  parent
    .command("release")
    .description("let deaths be acted on again, by hand: covers what has failed until now")
    .argument("[slugs...]", "organizations")
    .requiredOption("--comment <text>", "why; whoever may read it sees it")
    .option("--all", "every organization whose gate is held")
    .option("--by <name>", "who [$USER]")
    .option("-c, --config <file>", "configuration file, for server.listen and server.token")
    .option("--url <url>", "address of the daemon, in place of server.listen")
    .option("--json", "print an array of the gates")
    .addHelpText("after", '\nExample:\n  flatline gate release acme globex --comment "ten opened by hand, all gone"\n')
    .action(async (slugs: string[], flags: ReleaseFlags) => {
      if (slugs.length > 0 === (flags.all === true))
        throw new FlatlineError("usage", "name the organizations to release, or give --all");
      const config = await loadCommandConfig(flags.config, context);
      const by = flags.by ?? context.env["USER"] ?? null;
      const released: Gate[] = [];
      await withDaemon(config, { ...context, url: flags.url ?? null }, async (daemon) => {
        const wanted = flags.all === true ? (await daemon.heldGates()).map(({ slug }) => slug) : slugs;
        for (const slug of wanted) {
          try {
            released.push(await daemon.releaseGate(slug, by, flags.comment));
          } catch (error) {
            // The others are released all the same.
            if (!(error instanceof FlatlineError) || error.code !== "not_found") throw error;
            context.stderr.write(`flatline: ${slug}: ${error.message}\n`);
            context.setExitCode(new FlatlineError("usage", error.message).exitCode);
          }
        }
      }).catch(refuseUnanswered);
      if (flags.json === true) context.stdout.write(`${JSON.stringify(released, null, 2)}\n`);
      else context.stdout.write(released.length === 0 ? "no gate is released\n" : released.map(render).join(""));
    });
}

function render({ slug, decision, reason, message, suspectFrom }: Gate): string {
  const suspect = suspectFrom === null ? "" : `; deaths from ${suspectFrom} on are in question`;
  return `${slug}: ${decision} (${reason}): ${message}${suspect}\n`;
}

// An exit code of 1 says hold: what is neither allow nor hold has another.
const gateCodes: Readonly<Partial<Record<ErrorCode, ErrorCode>>> = {
  not_found: "usage",
  usage: "usage",
  unauthorized: "unauthorized",
  forbidden: "forbidden",
};

function refuseUnanswered(error: unknown): never {
  if (!(error instanceof FlatlineError)) throw error;
  throw new FlatlineError(gateCodes[error.code] ?? "unavailable", error.message, {
    cause: error,
    issues: error.issues,
  });
}

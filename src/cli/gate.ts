import type { Command } from "commander";
import { withoutFraction } from "../base/instant.ts";
import { gateListSchema, gateSchema, type Gate, type GateList } from "../contract/v1/gate.ts";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { withDaemon, type DaemonClient } from "./daemon-client.ts";
import {
  authorOf,
  daemonCommand,
  findDaemon,
  forEachNamed,
  withDaemonFlags,
  type DaemonFlags,
} from "./daemon-flags.ts";
import { askYesNo, namesOf } from "./platform/confirmation.ts";
import { countOf } from "../web/parts/figures.ts";
import { renderTable } from "./table.ts";
import { asJson } from "./values.ts";

interface ReleaseFlags extends DaemonFlags {
  readonly comment: string;
  readonly by?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** `flatline gate SLUG` and `flatline gate release`, through the running daemon's HTTP API. */
export const registerGate: RegisterCommand = (program: Command, context: CliContext): void => {
  const gate = program
    .command("gate")
    .description("whether deaths may be acted on, and releasing them")
    .argument("[slug]", "an organization [all, the worst first]");
  daemonCommand(gate, context, {
    json: "print {slug, decision, reason, message, opens, check, alertId, since, suspectFrom, releases}; of all {gates, open}",
    help: gateHelp,
    ask: (daemon, _flags, slug: string | undefined): Promise<Gate | GateList> =>
      (slug === undefined
        ? readGates(daemon)
        : daemon.readPublic(`/api/v1/gate/${encodeURIComponent(slug)}`, gateSchema)
      ).catch(refuseUnanswered),
    say: (answer) => ("gates" in answer ? renderAll(answer, context) : render(answer)),
    exitCode: (answer) => (("gates" in answer ? answer.gates.length === 0 : answer.decision === "allow") ? 0 : 1),
  });
  addRelease(gate, context);
};

const gateHelp = `
Exit code: 0 allow, 1 hold, 64 no such organization, 69 no answer, 77 not allowed to ask. Only 0 allows. Without an
organization it lists those that hold, the worst first: 0 none does, 1 at least one.

Examples:
  flatline gate
  flatline gate acme && ./delist-the-dead acme
  flatline gate acme --json | jq -r .suspectFrom
`;

function addRelease(parent: Command, context: CliContext): void {
  const command = parent
    .command("release")
    .description("let deaths be acted on again, by hand: covers what has failed until now")
    .argument("[slugs...]", "organizations")
    .requiredOption("--comment <text>", "why; shown with the release")
    .option("--all", "every organization whose gate is held; asks before")
    .option("--yes", "release all without asking")
    .option("--by <name>", "who [$USER]");
  withDaemonFlags(command, "print an array of the gates")
    .addHelpText("after", '\nExample:\n  flatline gate release acme globex --comment "ten opened by hand, all gone"\n')
    .action(async (slugs: string[], flags: ReleaseFlags) => {
      if (slugs.length > 0 === (flags.all === true))
        throw new FlatlineError("usage", "name the organizations to release, or give --all");
      const isAsked = flags.all === true && flags.yes !== true;
      if (isAsked && context.stdin.isTTY !== true)
        throw new FlatlineError(
          "usage",
          "there is no terminal to ask on: nothing was released; --yes releases without asking",
        );
      const body = { by: authorOf(flags.by, context), comment: flags.comment };
      const released: Gate[] = [];
      let isRefused = false;
      const found = await findDaemon(flags, context);
      await withDaemon(found, context, async (daemon) => {
        const wanted = flags.all === true ? heldByFailure(await readGates(daemon)) : slugs;
        if (isAsked && wanted.length > 0 && !(await isReleaseWanted(wanted, context))) {
          context.stderr.write("nothing was released\n");
          context.setExitCode(1);
          isRefused = true;
          return;
        }
        await forEachNamed(wanted, context, async (slug) => {
          const path = `/api/v1/gate/${encodeURIComponent(slug)}/release`;
          released.push(await daemon.send("POST", path, body, gateSchema));
        });
      }).catch(refuseUnanswered);
      if (isRefused) return;
      if (flags.json === true) context.stdout.write(asJson(released));
      else context.stdout.write(released.length === 0 ? "no gate is released\n" : released.map(render).join(""));
    });
}

function readGates(daemon: DaemonClient): Promise<GateList> {
  return daemon.readPublic("/api/v1/gate", gateListSchema);
}

function isReleaseWanted(slugs: readonly string[], context: CliContext): Promise<boolean> {
  context.stderr.write(`held: ${namesOf(slugs)}\n`);
  return askYesNo(
    `Release the deaths of ${countOf(slugs.length, "organization")}? What takedown pipelines then do, flatline cannot undo. [y/N] `,
    context,
  );
}

/** Returns the organizations held by a failure; a release changes nothing for an unknown one. */
function heldByFailure({ gates }: GateList): string[] {
  return gates.flatMap(({ slug, alertId }) => (alertId === null ? [] : [slug]));
}

function renderAll({ gates, open }: GateList, context: CliContext): string {
  if (gates.length === 0)
    return open === 0 ? "no organization is checked\n" : `no gate is held: all ${formatCount(open)} may act\n`;
  const rows = gates.map(({ slug, decision, since, reason, check, opens }) => [
    slug,
    decision,
    since === null ? "–" : withoutFraction(since),
    reasonWords[reason]?.(check ?? "a check") ?? reason,
    opens ?? "",
  ]);
  const others = open === 0 ? "" : `${formatCount(open)} ${open === 1 ? "other" : "others"} may act\n`;
  return `${renderTable(["ORGANIZATION", "DECISION", "SINCE", "WHY", "OPENS"], rows, { context })}${others}`;
}

const reasonWords: Readonly<Record<string, (check: string) => string>> = {
  fail_firing: (check) => `${check} fires as fail`,
  fail_latched: (check) => `${check} failed`,
  unknown: () => "nothing is known",
};

function render({ slug, decision, reason, message, suspectFrom }: Gate): string {
  const suspect = suspectFrom === null ? "" : `; deaths from ${suspectFrom} on are in question`;
  return `${slug}: ${decision} (${reason}): ${message}${suspect}\n`;
}

// An exit code of 1 says hold: what is neither allow nor hold has another.
const gateCodes: Readonly<Partial<Record<ErrorCode, ErrorCode>>> = {
  not_found: "not_found",
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

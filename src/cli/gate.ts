import type { Command } from "commander";
import { withoutFraction } from "../base/instant.ts";
import { gateListSchema, gateSchema, type Gate, type GateList } from "../contract/v1/gate.ts";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import { confirmOpening } from "./questions.ts";
import type { ApiClient } from "./api-client.ts";
import { addAskFlags, addBy, askApi, askingCommand, authorOf, forEachNamed, ifMissing, type AskFlags } from "./ask.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { asJson } from "./values.ts";

interface ReleaseFlags extends AskFlags {
  readonly comment: string;
  readonly by?: string;
  readonly yes?: boolean;
}

/** `flatline gate SLUG` and `flatline gate release`. */
export const registerGate: RegisterCommand = (program: Command, context: CliContext): void => {
  const gate = program
    .command("gate")
    .description("whether deaths may be acted on, and releasing them")
    .argument("[slug]", "an organization [all, the worst first]");
  askingCommand(gate, context, {
    without: "daemon",
    json: "print {slug, decision, reason, message, opens, check, alertId, since, suspectFrom, releases}; of all {gates, open}",
    help: gateHelp,
    ask: (api, _flags, slug: string | undefined): Promise<Gate | GateList> =>
      (slug === undefined ? api.read("/api/v1/gate", gateListSchema) : api.read(pathOf(slug), gateSchema)).catch(
        refuseUnanswered,
      ),
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
    .argument("<slug...>", "organizations")
    .requiredOption("--comment <text>", "why; shown with the release")
    .option("--yes", "open gates without asking");
  addBy(addAskFlags(command, "print an array of the gates"))
    .addHelpText("after", '\nExample:\n  flatline gate release acme globex --comment "ten opened by hand, all gone"\n')
    .action(async (slugs: string[], flags: ReleaseFlags) => {
      const body = { by: authorOf(flags.by, context), comment: flags.comment };
      const released: Gate[] = [];
      const isWanted = await askApi(
        flags,
        context,
        async (api) => {
          const held = flags.yes === true ? [] : await heldOf(slugs, api);
          if (held.length > 0 && !(await confirmOpening(held, context))) return false;
          await forEachNamed(slugs, context, async (slug) => {
            released.push(await api.send("POST", `${pathOf(slug)}/release`, body, gateSchema));
          });
          return true;
        },
        "daemon",
      ).catch(refuseUnanswered);
      if (!isWanted) {
        context.stderr.write("nothing was done\n");
        context.setExitCode(1);
        return;
      }
      context.stdout.write(flags.json === true ? asJson(released) : released.map(render).join(""));
    });
}

/** Returns those whose gate a release opens: a failure holds it, and not only that nothing is known. */
async function heldOf(slugs: readonly string[], api: ApiClient): Promise<string[]> {
  const gates = await Promise.all(slugs.map((slug) => api.read(pathOf(slug), gateSchema).catch(ifMissing)));
  return gates.flatMap((gate) => (gate?.decision === "hold" && gate.alertId !== null ? [gate.slug] : []));
}

function pathOf(slug: string): string {
  return `/api/v1/gate/${encodeURIComponent(slug)}`;
}

function renderAll({ gates, open }: GateList, context: CliContext): string {
  if (gates.length === 0)
    return open === 0
      ? "no organization is checked\n"
      : `nothing is on hold: takedowns of all ${formatCount(open)} are allowed\n`;
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

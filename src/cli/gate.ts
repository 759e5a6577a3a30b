import { FlatlineError } from "../base/errors.ts";
import { withoutFraction } from "../base/instant.ts";
import { formatCount } from "../base/numbers.ts";
import { gateListSchema, gateSchema, type Gate, type GateList } from "../contract/v1/alerts.ts";
import { asking, forEachNamed, recode } from "./ask.ts";
import { required, value } from "./command.ts";
import type { CliContext } from "./context.ts";
import { renderTable } from "./table.ts";

// Exit code 1 means hold, so that errors need another one.
const neverHold = recode({ conflict: "unavailable", api_invalid_response: "unavailable" });

const release = asking({
  description: "let deaths be acted on again, by hand: covers what has failed until now",
  words: [["<slug...>", "organizations"]],
  flags: { comment: required(value("<text>", "why; shown with the release")) },
  acts: true,
  without: "daemon",
  json: "print an array of the gates",
  help: '\nExample:\n  flatline gate release acme globex --comment "ten opened by hand, all gone"\n',
  // A hold without an alert is for `unknown`: a release would not open it.
  opens: async ({ api, words: [slugs] }) => {
    const ifMissing = (error: unknown): null => {
      if (error instanceof FlatlineError && error.code === "not_found") return null;
      throw error;
    };
    const gates = await Promise.all(slugs.map((slug) => api.read(pathOf(slug), gateSchema).catch(ifMissing)));
    return gates.flatMap((gate) => (gate?.decision === "hold" && gate.alertId !== null ? [gate.slug] : []));
  },
  ask: async ({ api, context, flags: { by, comment }, words: [slugs] }) => {
    const released: Gate[] = [];
    await forEachNamed(slugs, context, async (slug) => {
      released.push(await api.send("POST", `${pathOf(slug)}/release`, { by, comment }, gateSchema));
    });
    return released;
  },
  say: (released) => released.map(render).join(""),
});

/** `flatline gate SLUG` and `flatline gate release`. */
export const gate = asking({
  description: "whether deaths may be acted on, and releasing them",
  words: [["[slug]", "an organization [all, the worst first]"]],
  without: "daemon",
  json: "print {slug, decision, reason, message, check, alertId, since, suspectFrom, releases}; of all {gates, open}",
  help: `
Exit code: 0 allow, 1 hold, 64 no such organization, 69 no answer, 77 not allowed to ask. Only 0
allows. Without an organization it lists those that hold, the worst first: 0 none does, 1 at least one.

Examples:
  flatline gate
  flatline gate acme && ./delist-the-dead acme
  flatline gate acme --json | jq -r .suspectFrom
`,
  commands: { release },
  ask: ({ api, words: [slug] }): Promise<Gate | GateList> =>
    (slug === undefined ? api.read("/api/v1/gate", gateListSchema) : api.read(pathOf(slug), gateSchema)).catch(
      neverHold,
    ),
  say: (answer, { context }) => ("gates" in answer ? renderAll(answer, context) : render(answer)),
  exitCode: (answer) => (("gates" in answer ? answer.gates.length === 0 : answer.decision === "allow") ? 0 : 1),
});

function pathOf(slug: string): string {
  return `/api/v1/gate/${encodeURIComponent(slug)}`;
}

function renderAll({ gates, open }: GateList, context: CliContext): string {
  if (gates.length === 0)
    return open === 0
      ? "no organization is checked\n"
      : `nothing is on hold: takedowns of all ${formatCount(open)} are allowed\n`;
  const columns = {
    ORGANIZATION: ({ slug }: Gate) => slug,
    DECISION: ({ decision }: Gate) => decision,
    SINCE: ({ since }: Gate) => (since === null ? "–" : withoutFraction(since)),
    WHY: ({ reason, check }: Gate) => reasonWords[reason]?.(check ?? "a check") ?? reason,
  };
  const others = open === 0 ? "" : `${formatCount(open)} ${open === 1 ? "other" : "others"} may act\n`;
  return `${renderTable(gates, columns, { context })}${others}`;
}

const reasonWords: Readonly<Record<string, (check: string) => string>> = {
  fail_firing: (check) => `${check} fires as fail`,
  fail_latched: (check) => `${check} failed`,
  unknown: () => "nothing is known",
};

function render({ slug, decision, reason, message, suspectFrom }: Gate): string {
  // With nothing on hold, only a judgement puts deaths in question.
  const why = decision === "hold" ? "in question" : "judged checker";
  const suspect = suspectFrom === null ? "" : `; deaths from ${suspectFrom} on are ${why}`;
  return `${slug}: ${decision} (${reason}): ${message}${suspect}\n`;
}

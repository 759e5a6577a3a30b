import type { SourceFile } from "./source-files.ts";

/** A phrase that a reader has to read twice, and its replacement. */
export interface AvoidedPhrase {
  readonly pattern: RegExp;
  readonly instead: string;
  /** A text that the pattern finds. */
  readonly sample: string;
}

export const avoidedPhrases: readonly AvoidedPhrase[] = [
  { pattern: /\bnot to be had\b/i, instead: "unavailable", sample: "the store is not to be had" },
  {
    pattern: /\b(?:told|tell|tells)\b(?! apart)/i,
    instead: "notify, report, print",
    sample: "Receivers are told of it.",
  },
  { pattern: /\bsomebody\b/i, instead: "name who: a person, another process", sample: "until somebody has looked" },
  { pattern: /\bnobody\b/i, instead: "no … (a noun)", sample: "nobody is notified twice" },
  { pattern: /\banybody\b|\banyone\b/i, instead: "name who", sample: "may quote anybody" },
  { pattern: /\bwhoever\b/i, instead: "name who, or: every … that", sample: "whoever stores at the same time" },
  { pattern: /\bas ever\b/i, instead: "as before, by default", sample: "lets the heap grow as ever" },
  { pattern: /\banew\b/i, instead: "again, new", sample: "to begin anew" },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, instead: "repair, fix, correct", sample: "mend the file" },
  { pattern: /\bthat there is\b/i, instead: "existing", sample: "the least that there is" },
  { pattern: /\bas long as it is there\b/i, instead: "while it exists", sample: "holds as long as it is there" },
  { pattern: /\bwhat it is of\b/i, instead: "its subject", sample: "named by what it is of" },
  { pattern: /\bsince ever\b/i, instead: "from the start", sample: "known since ever" },
  { pattern: /\bis none of\b/i, instead: "is not one of", sample: "a value that is none of these" },
  { pattern: /\bof somebody else's\b|\bnobody else's\b/i, instead: "another program's", sample: "nobody else's rows" },
  { pattern: /\bunder way\b/i, instead: "running, in progress", sample: "checks under way" },
  { pattern: /\bgiven up\b/, instead: "aborted, dead-lettered", sample: "an import was given up" },
  {
    pattern: /(?:^|[.!;] )(?:Who|What|Whose) [^?.]*[.;]/,
    instead: "subject, verb, object",
    sample: "Who asks waits.",
  },
];

/** What was reworded already, as folders and files; it grows until it is all of the project. */
export const rewordedPaths: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/alerts.md",
  "docs/api.md",
  "docs/architecture.md",
  "docs/benchmarks.md",
  "docs/configuration.md",
  "docs/contract.md",
  "docs/decisions.md",
  "docs/detection.md",
  "docs/evidence.md",
  "docs/gate.md",
  "docs/glossary.md",
  "docs/guide.md",
  "docs/http.md",
  "docs/metrics.md",
  "docs/notifications.md",
  "docs/operations.md",
  "docs/performance.md",
  "docs/reliability.md",
  "docs/runbooks.md",
  "docs/scale.md",
  "docs/troubleshooting.md",
  "src/alerting/",
  "src/backtest/",
  "src/base/",
  "src/cli/",
  "src/client/",
  "src/commands/",
  "src/config/",
  "src/contract/",
  "src/daemon/",
  "src/discovery/",
  "src/evidence/",
  "src/metrics/",
  "src/monitor/",
  "src/receivers/",
  "src/service/",
  "src/sources/",
  "src/spike/",
  "src/store/",
  "src/web/access/",
  "src/web/api/",
];

/** Returns whether the word list applies to a file; tests are excluded. */
export function isReworded(path: string): boolean {
  if (path.endsWith(".test.ts")) return false;
  return rewordedPaths.some((one) => (one.endsWith("/") ? path.startsWith(one) : path === one));
}

/** Finds avoided phrases in a text for people, each as `path:line: phrase (instead: …)`. */
export function phraseProblems(path: string, prose: string): string[] {
  return prose.split("\n").flatMap((line, index) =>
    avoidedPhrases.flatMap(({ pattern, instead }) => {
      const match = pattern.exec(line);
      return match === null ? [] : [`${path}:${index + 1}: "${match[0].trim()}" (instead: ${instead})`];
    }),
  );
}

/** Returns the prose of a page: without code blocks, code spans and addresses, line by line. */
export function proseOfPage(text: string): string {
  const blank = (match: string): string => match.replaceAll(/[^\n]/g, " ");
  return text.replaceAll(/```[^]*?```/g, blank).replaceAll(/`[^`\n]*`|\]\([^)\n]*\)|https?:\S+/g, blank);
}

/** Returns the comments and strings of a source file, line by line; everything else is blank. */
export function proseOfSource({ text, code }: SourceFile): string {
  let prose = "";
  for (let index = 0; index < text.length; index++)
    prose += code[index] === " " || text[index] === "\n" ? text[index] : " ";
  return prose;
}

/** Finds exported functions whose doc comment begins with a noun or a relative clause, each as `path:line: first word`. */
export function nounComments({ path, text }: SourceFile): string[] {
  const comment =
    /\/\*\*\s+(?:\* )?(The|A|An|Whether|How|What|Why|Who|Where|When|Which|As)\b(?:(?!\*\/)[^])*\*\/\nexport (?:async )?function/g;
  return [...text.matchAll(comment)].map(
    (match) => `${path}:${text.slice(0, match.index).split("\n").length}: begins with "${match[1]}", not with a verb`,
  );
}

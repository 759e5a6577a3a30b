import { nearestName } from "../../base/suggestions.ts";

/** What the words of a filter are held against. */
export interface WordSubject {
  readonly slug: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Severity, state, checks: what a bare word may name exactly. */
  readonly names: readonly string[];
}

/** What a text asks for: all of it must hold. */
export interface Words {
  /** Each with the text that it stands in, to say what a filter without it would find. */
  readonly tests: readonly WordTest[];
  /** What could not be understood, in words. */
  readonly problems: readonly string[];
}

/** One word of a filter. */
export interface WordTest {
  readonly text: string;
  readonly holds: (subject: WordSubject) => boolean;
}

/** What words there are beside those that name a slug. */
export interface Vocabulary {
  /** Words that mean exactly a severity or a state. */
  readonly names: readonly string[];
  /** Names of labels. */
  readonly labels: readonly string[];
}

/** Reads a filter in words: `acme fail team=trust "exact slug"`. */
export function readWords(text: string, vocabulary: Vocabulary): Words {
  const tests: WordTest[] = [];
  const problems: string[] = [];
  for (const [word] of text.matchAll(/"[^"]*"?|\S+/g)) {
    const holds = readWord(word, vocabulary);
    if (typeof holds === "string") problems.push(holds);
    else if (holds !== null) tests.push({ text: word, holds });
  }
  return { tests, problems };
}

/** Returns the subjects for which every word holds. */
export function selectByWords<Item>(
  items: readonly Item[],
  { tests }: Pick<Words, "tests">,
  subjectOf: (item: Item) => WordSubject,
): Item[] {
  return items.filter((item) => {
    const subject = subjectOf(item);
    return tests.every(({ holds }) => holds(subject));
  });
}

/** Returns what a word asks for; null: nothing; a text: why it cannot be understood. */
function readWord(word: string, { names, labels }: Vocabulary): WordTest["holds"] | string | null {
  if (word.startsWith('"')) {
    const exact = word.replaceAll('"', "");
    return exact === "" ? null : ({ slug }) => slug === exact;
  }
  const lower = word.toLowerCase();
  if (names.includes(lower)) return (subject) => subject.names.includes(lower);
  const [, key, value] = /^([^=]+)=(.*)$/.exec(word) ?? [];
  if (key !== undefined && value !== undefined) return readLabel(key, value.toLowerCase(), labels);
  const has = (text: string): boolean => text.toLowerCase().includes(lower);
  return ({ slug, labels: own, names: known }) => has(slug) || Object.values(own).some(has) || known.some(has);
}

function readLabel(key: string, value: string, labels: readonly string[]): WordTest["holds"] | string {
  if (labels.includes(key)) return ({ labels: own }) => Object.hasOwn(own, key) && own[key]?.toLowerCase() === value;
  const nearest = nearestName(key, labels);
  return `«${key}» is no label.${nearest === null ? "" : ` Did you mean ${nearest}?`}`;
}

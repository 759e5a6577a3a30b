import { nearestName } from "../../base/suggestions.ts";

/** What the words of a filter are held against. */
export interface WordSubject {
  readonly slug: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Severity, state, checks: what a bare word may name exactly. */
  readonly names: readonly string[];
  /** Share of its deaths that were undone, 0–1; null: unknown. */
  readonly undone: number | null;
  readonly who: string | null;
  readonly judged: string | null;
  readonly lastedMs: number | null;
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

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a filter in words: `acme fail team=trust undone>50% who=dana judged=checker not:judged longer:4h "exact slug"`. */
export function readWords(text: string, vocabulary: Vocabulary): Words {
  const tests: WordTest[] = [];
  const problems: string[] = [];
  for (const [word] of text.matchAll(/"[^"]*"?|\S+/g)) {
    const test = readWord(word, vocabulary);
    if (typeof test === "string") problems.push(test);
    else if (test !== null) tests.push({ text: word, ...test });
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

type Test = Pick<WordTest, "holds">;

function readWord(word: string, { names, labels }: Vocabulary): Test | string | null {
  if (word.startsWith('"')) {
    const slug = word.replaceAll('"', "");
    return slug === "" ? null : { holds: (subject) => subject.slug === slug };
  }
  const lower = word.toLowerCase();
  if (names.includes(lower)) return { holds: (subject) => subject.names.includes(lower) };
  if (lower === "not:judged") return { holds: ({ judged }) => judged === null };
  const undone = /^undone([<>])(\d+(?:\.\d+)?)%?$/.exec(lower);
  if (undone !== null) {
    const share = Number(undone[2]) / 100;
    return {
      holds: (subject) =>
        subject.undone !== null && (undone[1] === ">" ? subject.undone > share : subject.undone < share),
    };
  }
  const lasted = /^(longer|shorter):(\d+(?:\.\d+)?)([mhd])$/.exec(lower);
  if (lasted !== null) {
    const lengthMs = Number(lasted[2]) * (unitMs[lasted[3] ?? "h"] ?? 0);
    return {
      holds: ({ lastedMs }) =>
        lastedMs !== null && (lasted[1] === "longer" ? lastedMs > lengthMs : lastedMs < lengthMs),
    };
  }
  const pair = /^([^=]+)=(.*)$/.exec(word);
  if (pair !== null) return readPair(pair[1] ?? "", (pair[2] ?? "").toLowerCase(), labels);
  const has = (text: string): boolean => text.toLowerCase().includes(lower);
  return {
    holds: ({ slug, labels: own, names: known }) => has(slug) || Object.values(own).some(has) || known.some(has),
  };
}

function readPair(key: string, value: string, labels: readonly string[]): Test | string {
  if (key === "who") return { holds: ({ who }) => who?.toLowerCase().includes(value) ?? false };
  if (key === "judged") return { holds: ({ judged }) => judged === value };
  if (!labels.includes(key)) {
    const nearest = nearestName(key, [...labels, "who", "judged"]);
    return `«${key}» is no label.${nearest === null ? "" : ` Did you mean ${nearest}?`}`;
  }
  return { holds: ({ labels: own }) => Object.hasOwn(own, key) && own[key]?.toLowerCase() === value };
}

/** What no answer and no message may have, whatever was asked: the inside of the program. */
const inside = [
  /\n\s+at [^\n]+:\d+:\d+/,
  /node_modules/,
  /\bfile:\/\/\/[^\s"]+\.[jt]s\b/,
  /\/src\/[a-z-]+\/[^\s"]+\.ts\b/,
  /\b(?:TypeError|RangeError|ReferenceError|SqliteError|ZodError|AssertionError)\b/,
  /\bSQLITE_[A-Z]+/,
  /Maximum call stack/,
  /\[object Object\]/,
  /Cannot read propert/,
];

/** Returns a sentence for each part of the program's inside that a text shows. */
export function complaintsOfText(text: string): string[] {
  return inside.flatMap((pattern) => {
    const [found] = pattern.exec(text) ?? [];
    return found === undefined ? [] : [`shows ${JSON.stringify(found)}: ${text.slice(0, 1_000)}`];
  });
}

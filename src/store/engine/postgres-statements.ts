/** Names of prepared statements. */
export interface StatementNames {
  /** Returns the statement's name; null if it is not worth preparing. */
  nameOf(text: string): string | null;
}

// Every connection of the server holds all of them.
const keptNames = 256;
// Statements with long parameter lists are rarely repeated.
const longestText = 2_000;
// A newer flatline beside this one may add a column: a prepared plan for `*` would then fail.
const allColumns = /(?:select|returning|\.)\s*\*/i;
// Each length of such a list is a text of its own: a few statements would take every name, and the others would go without.
const listOfAnyLength = /\bin \(\$\d+, |\), \(/i;
// Transaction control has no plan.
const worthwhile = /^\s*(?:select|insert|update|delete|with)\b/i;

/** Creates the names for all connections of a pool: a text has the same name on each. */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  return {
    nameOf: (text) => {
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= keptNames || text.length > longestText) return null;
      if (allColumns.test(text) || listOfAnyLength.test(text) || !worthwhile.test(text)) return null;
      const name = `flatline_${names.size}`;
      names.set(text, name);
      return name;
    },
  };
}

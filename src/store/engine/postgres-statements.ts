/** Names under which the server keeps statements parsed and planned. */
export interface StatementNames {
  /** The statement's name; null for one that is not worth it. */
  nameOf(text: string): string | null;
}

// Each connection of the server holds them all.
const keptNames = 256;
// Lists of parameters make texts that come once and never again.
const longestText = 2_000;
// A newer flatline that runs beside this one may add a column: then a kept plan of such a statement is refused.
const allColumns = /(?:select|returning|\.)\s*\*/i;
// Transaction control has nothing to plan.
const worthwhile = /^\s*(?:select|insert|update|delete|with)\b/i;

/** One book of names for all connections of a pool: a text has the same name on each. */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  return {
    nameOf: (text) => {
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= keptNames || text.length > longestText) return null;
      if (allColumns.test(text) || !worthwhile.test(text)) return null;
      const name = `flatline_${names.size}`;
      names.set(text, name);
      return name;
    },
  };
}

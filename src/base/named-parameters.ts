/** A text of SQL, cut where its named parameters (`:name`) stand. */
export interface ParameterizedText {
  /** One more than `names`. */
  readonly texts: readonly string[];
  /** What stands between two texts, in order; a name may come several times. */
  readonly names: readonly string[];
}

// What may hold a colon that begins no parameter: strings, quoted names, comments, dollar quotes and casts, as PostgreSQL has
// them (its manual, 4.1.2 and 4.1.5). The last group is a parameter; a colon behind a value is a slice of an array.
const token =
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|::|(?<![\w\])]):([A-Za-z_]\w*)/g;

/** Finds the named parameters of a query: never inside a string, a quoted name or a comment, and never in a cast (`::`). */
export function splitParameters(text: string): ParameterizedText {
  const texts: string[] = [];
  const names: string[] = [];
  let fromIndex = 0;
  for (const match of text.matchAll(token)) {
    const name = match[2];
    if (name === undefined) continue;
    texts.push(text.slice(fromIndex, match.index));
    names.push(name);
    fromIndex = match.index + match[0].length;
  }
  texts.push(text.slice(fromIndex));
  return { texts, names };
}

/** One parameter of a ClickHouse query: `{name:Type}`. */
export interface TypedParameter {
  readonly name: string;
  /** As it is written: `Array(String)`, `DateTime64(3)`. */
  readonly type: string;
}

const typedToken =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\/|\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}/g;

/** The typed parameters of a ClickHouse query, each time that one stands in it; never inside a string, a name or a comment. */
export function typedParameters(text: string): TypedParameter[] {
  return [...text.matchAll(typedToken)].flatMap(([, name, type]) =>
    name === undefined || type === undefined ? [] : [{ name, type }],
  );
}

// Skips what may contain a colon: strings, quoted names, comments, dollar quotes and casts (PostgreSQL, 4.1.2 and
// 4.1.5). The last group is a parameter; a colon after a value is an array slice.
const token =
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|::|(?<![\w\])]):([A-Za-z_]\w*)/g;

/** Finds the parameters (`:name`) of a query, and the texts around them. */
export function splitParameters(text: string) {
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

const typedToken =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\/|\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}/g;

/** Returns the parameters (`{name:Type}`) of a ClickHouse query. */
export function typedParameters(text: string) {
  return [...text.matchAll(typedToken)].flatMap(([, name, type]) =>
    name === undefined || type === undefined ? [] : [{ name, type }],
  );
}

/** Asks for the help of every command; returns the commands with their subcommands, as paths of names. */
export async function commandPaths(
  helpOf: (path: readonly string[]) => Promise<string>,
  path: readonly string[] = [],
): Promise<string[][]> {
  const help = await helpOf(path);
  const below = await Promise.all(subcommandsOf(help).map((name) => commandPaths(helpOf, [...path, name])));
  return [[...path], ...below.flat()];
}

const groups = /^(?:Start|At night|Look back|Run it|Platform|Commands):\n((?: {2}.*\n)+)/gm;

/** The commands that a help text lists, without `help` itself. */
function subcommandsOf(help: string): string[] {
  const lists = [...help.matchAll(groups)].map(([, list = ""]) => list).join("");
  const names = [...lists.matchAll(/^ {2}(\S+)/gm)].map(([, name = ""]) => name);
  return names.filter((name) => name !== "help");
}

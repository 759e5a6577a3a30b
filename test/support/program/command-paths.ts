/** Asks for the help of every command; returns the commands with their subcommands, as paths of names. */
export async function commandPaths(
  helpOf: (path: readonly string[]) => Promise<string>,
  path: readonly string[] = [],
): Promise<string[][]> {
  const help = await helpOf(path);
  const below = await Promise.all(subcommandsOf(help).map((name) => commandPaths(helpOf, [...path, name])));
  return [[...path], ...below.flat()];
}

/** The commands that a help text lists, without `help` itself. */
function subcommandsOf(help: string): string[] {
  const [, list = ""] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  const names = [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name = ""]) => name);
  return names.filter((name) => name !== "help");
}

import { Argument, type Command } from "commander";

import type { CliContext, RegisterCommand } from "../context.ts";
import { renderBash } from "./bash.ts";
import { commandTree, type CompletedCommand, type CompletedValue } from "./command-tree.ts";
import { renderZsh } from "./zsh.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

const renderers: Readonly<Record<Shell, (commands: readonly CompletedCommand[]) => string>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

/** `flatline completion SHELL`; it needs a program with every command (cli/program.ts). */
export const registerCompletion: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("completion")
    .description("print the completion of commands and flags for a shell")
    .addArgument(new Argument("<shell>", "the shell that is to complete").choices(shells))
    .addHelpText("after", help)
    .action((shell: Shell) => context.stdout.write(renderers[shell](commandTree(program))));
};

const help = `
Examples:
  source <(flatline completion bash)                                        in ~/.bashrc
  source <(flatline completion zsh)                                         in ~/.zshrc, after compinit
  flatline completion fish > ~/.config/fish/completions/flatline.fish       once, and after an upgrade
`;

/** Returns the completion of all commands as a script for fish. */
function renderFish(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(" ")));
  const lines = commands.flatMap(({ path, commands: children, options, value }) => {
    const when = `complete -c flatline -n ${quote(`__flatline_at ${quote(path.join(" "))}`)}`;
    return [
      ...children.map(({ name, description }) => `${when} -a ${name} -d ${quote(description)}`),
      ...options.map(({ flags, description, value: taken }) => {
        const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        return `${when} ${names.join(" ")}${taken === null ? "" : ` -r${follows(taken)}`} -d ${quote(description)}`;
      }),
      ...(children.length > 0 || value === "text" ? [] : [`${when}${follows(value)}`]),
    ];
  });
  return `# Completion of flatline for fish, made by \`flatline completion fish\`.
function __flatline_at
    set -l at ''
    for word in (commandline -opc)[2..]
        set -l longer (string trim "$at $word")
        if contains -- $longer ${paths.join(" ")}
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
complete -c flatline -e
complete -c flatline -f
${lines.join("\n")}
`;
}

function follows(value: CompletedValue): string {
  if (value === "file") return " -F";
  return value === "text" ? " -f" : ` -f -a ${quote(value.join(" "))}`;
}

/** In fish a backslash is one before a backslash and a quote only. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

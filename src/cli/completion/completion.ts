import { Argument, type Command } from "commander";

import type { CliContext, RegisterCommand } from "../context.ts";
import { renderBash } from "./bash.ts";
import { commandTree, type CompletedCommand } from "./command-tree.ts";
import { renderFish } from "./fish.ts";
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

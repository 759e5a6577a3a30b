import { Argument, type Command, type Option } from "commander";

import type { CliContext, RegisterCommand } from "./context.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** `flatline completion SHELL`, and `flatline __complete -- WORD…`, which what it prints asks at each Tab. */
export const registerCompletion: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("completion")
    .description("print the completion of commands and flags for a shell")
    .addArgument(new Argument("<shell>", "the shell that is to complete").choices(shells))
    .addHelpText("after", help)
    .action((shell: Shell) => context.stdout.write(scripts[shell]));
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action((words: readonly string[]) => {
      const offered = completionsOf(program, words);
      if (offered === "file") return context.stdout.write(`${fileLine}\n`);
      for (const [word, description] of offered) context.stdout.write(`${word}\t${description}\n`);
    });
};

const help = `
Examples:
  source <(flatline completion bash)                                        in ~/.bashrc
  source <(flatline completion zsh)                                         in ~/.zshrc, after compinit
  flatline completion fish > ~/.config/fish/completions/flatline.fish       once
`;

// No word of a command line that flatline offers begins so.
const fileLine = ":file";

const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of flatline for bash, made by \`flatline completion bash\`.
_flatline() {
  local cur=\${COMP_WORDS[COMP_CWORD]}
  mapfile -t COMPREPLY < <(flatline __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
  if [[ \${COMPREPLY[0]-} == ${fileLine} ]]; then
    compopt -o filenames 2>/dev/null
    [[ $cur == '=' ]] && cur=''
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _flatline flatline
`,
  zsh: `#compdef flatline
# Completion of flatline for zsh, made by \`flatline completion zsh\`.
_flatline() {
  local -a found
  found=("\${(@f)$(flatline __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $found[1] == ${fileLine} ]]; then
    _files
  elif [[ -n $found[1] ]]; then
    found=("\${(@)found//:/\\\\:}")
    found=("\${(@)found/$'\\t'/:}")
    _describe flatline found
  fi
}
if [[ $funcstack[1] == _flatline ]]; then
  _flatline "$@"
else
  compdef _flatline flatline
fi
`,
  fish: `# Completion of flatline for fish, made by \`flatline completion fish\`.
function __flatline_complete
    set -l found (flatline __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if test "$found[1]" = ${fileLine}
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c flatline -e
complete -c flatline -f -a '(__flatline_complete)'
`,
};

/** Words with what they mean; or "file": a name of a file. */
type Offered = readonly (readonly [word: string, description: string])[] | "file";

/** Returns what may stand in the place of the last of `words`, which is what was typed of it so far; without `flatline` itself. */
function completionsOf(program: Command, words: readonly string[]): Offered {
  // bash takes --flag=value apart at the "="; of the other shells it is one word.
  const typed = words.at(-1) === "=" ? [...words, ""] : words;
  const line = typed.filter((word) => word !== "=");
  const current = line.at(-1) ?? "";
  const before = line.slice(0, -1);
  let command = program;
  for (const word of before) command = command.commands.find((one) => one.name() === word) ?? command;
  const options = command.createHelp().visibleOptions(command);
  const [flag, part] = splitFlag(current);
  if (part !== null) return startingWith(part, valuesOf(options, flag), `${flag}=`);
  const values = valuesOf(options, before.at(-1) ?? "");
  if (values !== null) return startingWith(current, values);
  if (current.startsWith("-"))
    return startingWith(
      current,
      options.flatMap((option) => flagsOf(option).map((name) => [name, option.description] as const)),
    );
  const children = command.createHelp().visibleCommands(command);
  if (children.length > 0)
    return startingWith(
      current,
      children.map((child) => [child.name(), child.description()]),
    );
  return startingWith(current, argumentsOf(command.registeredArguments));
}

function splitFlag(word: string): readonly [flag: string, part: string | null] {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at === -1 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}

function startingWith(typed: string, offered: Offered | null, before = ""): Offered {
  if (offered === null || offered === "file") return offered ?? [];
  return offered.flatMap(([word, what]) => (word.startsWith(typed) ? [[`${before}${word}`, what] as const] : []));
}

const flagsOf = ({ short, long }: Option): string[] =>
  [short, long].filter((flag) => flag !== undefined && flag !== null);

/** What may follow a flag; null: it takes no value, or is none. */
function valuesOf(options: readonly Option[], flag: string): Offered | null {
  const option = options.find((one) => flagsOf(one).includes(flag));
  if (option === undefined || !(option.required || option.optional)) return null;
  return valueOf(option.flags, option.argChoices);
}

/** They are all of one kind in each command, or cannot be told apart. */
function argumentsOf(given: readonly Argument[]): Offered {
  const choices = given.find(({ argChoices }) => argChoices !== undefined)?.argChoices;
  return valueOf(given.map((one) => `<${one.name()}>`).join(" "), choices);
}

/** A value is a file where its name in the help says so. */
function valueOf(name: string, choices: readonly string[] | undefined): Offered {
  if (choices !== undefined) return choices.map((choice) => [choice, ""]);
  return /[<[]file/.test(name) ? "file" : [];
}

import type { CompletedCommand, CompletedValue } from "./command-tree.ts";

/** Returns the completion of all commands as a script for bash 4.4 and newer. */
export function renderBash(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(" ")));
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === null
        ? []
        : [`    ${flags.map((flag) => quote(`${path.join(" ")}:${flag}`)).join("|")}) ${offer(value)}; return ;;`],
    ),
  );
  const own = commands.map(({ path, commands: children, options, value }) => {
    const flags = options.flatMap((option) => option.flags).join(" ");
    const follows = children.length > 0 ? children.map(({ name }) => name) : value;
    return `    ${quote(path.join(" "))}) flags=${quote(flags)}; [[ $cur == -* ]] || ${offer(follows)} ;;`;
  });
  return `# Completion of flatline for bash, made by \`flatline completion bash\`.
_flatline() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at='' flags='' index word
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${at:+$at }\${COMP_WORDS[index]}"
    case $word in
    ${paths.join("|")}) at=$word ;;
    esac
  done
  # bash takes --flag=value apart.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  case "$at:$prev" in
${values.join("\n")}
  esac
  case $at in
${own.join("\n")}
  esac
  if [[ $cur == -* ]]; then _flatline_words "$flags"; fi
}
_flatline_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}
_flatline_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -F _flatline flatline
`;
}

function offer(value: CompletedValue): string {
  if (value === "file") return "_flatline_files";
  return value === "text" ? ":" : `_flatline_words ${quote(value.join(" "))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

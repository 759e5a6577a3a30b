import type { CompletedCommand, CompletedValue } from "./command-tree.ts";

/** Returns the completion of all commands as a script for zsh: to be evaluated, or a file `_flatline` in $fpath. */
export function renderZsh(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(" ")));
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === null
        ? []
        : [`    ${flags.map((flag) => quote(`${path.join(" ")}:${flag}`)).join("|")}) ${offer(value)}; return ;;`],
    ),
  );
  const own = commands.map(({ path, commands: children, options, value }) => {
    const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
    const follows =
      children.length > 0
        ? `found=(${children.map(({ name, description }) => described(name, description)).join(" ")})`
        : offer(value);
    return `    ${quote(path.join(" "))})
      if [[ $PREFIX == -* ]]; then found=(${flags.join(" ")}); else ${follows}; fi ;;`;
  });
  return `#compdef flatline
# Completion of flatline for zsh, made by \`flatline completion zsh\`.
_flatline() {
  local at='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    word="\${at:+$at }$word"
    case $word in
    ${paths.join("|")}) at=$word ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${values.join("\n")}
  esac
  case $at in
${own.join("\n")}
  esac
  (( \${#found} )) && _describe flatline found
}
if [[ $funcstack[1] == _flatline ]]; then
  _flatline "$@"
else
  compdef _flatline flatline
fi
`;
}

function offer(value: CompletedValue): string {
  if (value === "file") return "_files";
  return value === "text" ? ":" : `compadd -- ${value.map(quote).join(" ")}`;
}

/** \`name:description\`, in which only the first colon separates. */
function described(name: string, description: string): string {
  return quote(`${name.replaceAll(":", String.raw`\:`)}:${description}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Issues that name fields of the API (`assetId: …`), in the words of the command line (`--asset-id: …`). `ofChoices` begins
 * what is said of a field that is none of its choices.
 */
export function flagIssues(issues: readonly string[], ofChoices = "expected"): string[] {
  return issues.map((issue) =>
    issue
      .replace(/^([a-z][A-Za-z]*)(?=: )/, (name) => (name === "proposalId" ? "ID" : flagOf(name)))
      .replaceAll(/\b(startDate|endDate|watchlistReason)\b/g, flagOf)
      // What a schema says of a field that is not there, or is no number, no text or none of the choices.
      .replace(/: Invalid input: .*, received undefined$/, ": needed with these, and not given")
      .replace(/: Invalid input: expected number, received string$/, ": expected a positive integer")
      .replace(/: Too small: expected string .*$/, ": must not be empty")
      .replace(/: expected one of /, `: ${ofChoices} one of `)
      .replace(/openapi\.json(?= lists)/, "--help"),
  );
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

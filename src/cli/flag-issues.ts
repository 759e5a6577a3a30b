/** Issues that name fields of the API (`assetId: …`), in the words of the command line (`--asset-id: …`). */
export function flagIssues(issues: readonly string[]): string[] {
  return issues.map((issue) =>
    issue
      .replace(/^([a-z][A-Za-z]*)(?=: )/, (name) => (name === "proposalId" ? "ID" : `--${kebabCase(name)}`))
      // What a schema says of a field that is not there.
      .replace(/: Invalid input: .*, received undefined$/, ": needed with these, and not given"),
  );
}

function kebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

#!/usr/bin/env node
// Plain JavaScript of the oldest kind that still runs, so that an old Node says one line instead of a syntax error.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    `flatline: needs Node.js 24 or newer, this is ${process.versions.node}; install it, or run "npm i node@24" beside flatline\n`,
  );
  process.exitCode = 69;
} else {
  // Compiled code is kept in the folder for temporary files, where there is one: a command starts in half the time.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache();
  // The few files of scripts/bundle.js start in a third of the time; who looks for a bug wants the names of the source.
  const { existsSync } = await import("node:fs");
  const isJoined = existsSync(new URL("../dist/program/main.js", import.meta.url));
  if (isJoined && process.env.FLATLINE_DEBUG === undefined) await import("../dist/program/main.js");
  else await import("../dist/cli/main.js");
}

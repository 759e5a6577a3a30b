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
  // Stacks then name the files of src; reading the source maps takes some time.
  if (process.env.FLATLINE_DEBUG !== undefined) process.setSourceMapsEnabled(true);
  await import("../dist/program/main.js");
}

#!/usr/bin/env node
// Plain JavaScript of the oldest kind that still runs, so that an old Node says one line instead of a syntax error.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(
    `flatline: needs Node.js 24 or newer, this is ${process.versions.node}; install it, or run "npm i node@24" beside flatline\n`,
  );
  process.exitCode = 69;
} else {
  keepCompiledCode();
  // Stacks then name the files of src; reading the source maps takes some time.
  if (process.env.FLATLINE_DEBUG !== undefined) process.setSourceMapsEnabled(true);
  await import("../dist/program/main.js");
}

/**
 * Keeps compiled code between starts: a command starts in half the time. Node.js runs what it finds in the folder
 * whoever wrote it, and its own choice is below the folder for temporary files, which all users share. So the folder is
 * the user's own, or there is none. With NODE_COMPILE_CACHE, Node.js has begun already, in the folder that it names.
 */
function keepCompiledCode() {
  const { enableCompileCache, getCompileCacheDir } = process.getBuiltinModule("node:module");
  if (getCompileCacheDir() !== undefined) return;
  const folder = ownCacheFolder();
  if (folder !== null) enableCompileCache(folder);
}

/** Returns $XDG_CACHE_HOME/flatline [~/.cache/flatline], which it makes; null where somebody else could write in it. */
function ownCacheFolder() {
  // Windows: no owner and no mode could be looked at.
  if (process.geteuid === undefined) return null;
  const { existsSync, mkdirSync, realpathSync } = process.getBuiltinModule("node:fs");
  const { basename, dirname, isAbsolute, join } = process.getBuiltinModule("node:path");
  const { homedir } = process.getBuiltinModule("node:os");
  try {
    const caches = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
    if (!isAbsolute(caches)) return null;
    const missing = [];
    let existing = join(caches, "flatline");
    for (; !existsSync(existing); existing = dirname(existing)) missing.unshift(basename(existing));
    // Without links, which could lead to another place by the time that Node.js looks.
    let folder = realpathSync(existing);
    for (let above = folder; above !== "/"; above = dirname(above)) if (isReplaceable(above)) return null;
    for (const name of missing) {
      folder = join(folder, name);
      // No error when another process was faster.
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (isReplaceable(folder)) return null;
    }
    return isPrivate(folder) ? folder : null;
  } catch {
    // No home, a file system that cannot be written, a file in the way: the start takes longer.
    return null;
  }
}

/** Returns whether a user other than root could replace this folder, or what it holds of ours. */
function isReplaceable(path) {
  const stats = process.getBuiltinModule("node:fs").lstatSync(path);
  const isOthers = stats.uid !== 0 && stats.uid !== process.geteuid();
  // In a sticky folder, such as /tmp, nobody removes what others made.
  const isOpen = (stats.mode & 0o022) !== 0 && (stats.mode & 0o1000) === 0;
  return !stats.isDirectory() || isOthers || isOpen;
}

/** Returns whether no other user can enter this folder: what Node.js makes in it is as open as the umask lets it be. */
function isPrivate(path) {
  const { uid, mode } = process.getBuiltinModule("node:fs").lstatSync(path);
  return uid === process.geteuid() && (mode & 0o077) === 0;
}

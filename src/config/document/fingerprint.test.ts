import { mkdir, mkdtemp, rm, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { configFiles, fingerprintFiles } from "./document.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-fingerprint-"));
  await write("flatline.yaml", 'appUrl: ${file:key}\norganizations: [{ slug: a, apiKey: "${file:a.key}" }]\n');
  await write("key", "one");
  files = await filesOf("flatline.yaml");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (file: string, text: string): Promise<void> => writeFile(join(folder, file), text);
const filesOf = (path: string) => configFiles({ path, cwd: folder, env: {} });
let files: readonly string[];
const fingerprint = (): Promise<string> => fingerprintFiles(files);

describe("the fingerprint of the configuration's files", () => {
  it.each([
    ["the file changes", () => write("flatline.yaml", "appUrl: ${file:key}\n")],
    ["the file goes", () => unlink(join(folder, "flatline.yaml"))],
    ["the file is no YAML any more", () => write("flatline.yaml", "{")],
    ["a file that it names changes", () => write("key", "two")],
    ["a file that it names appears", () => write("a.key", "a")],
  ])("changes when %s", async (_rule, change) => {
    const before = await fingerprint();

    await change();

    expect(await fingerprint()).not.toBe(before);
  });

  it("changes when a symlink points to another content, as Kubernetes mounts do", async () => {
    await mkdir(join(folder, "v1"));
    await mkdir(join(folder, "v2"));
    await write("v1/mounted.yaml", "organizations: [a]\n");
    await write("v2/mounted.yaml", "organizations: [b]\n");
    await symlink("v1", join(folder, "data"));
    files = await filesOf("data/mounted.yaml");
    const before = await fingerprint();

    await unlink(join(folder, "data"));
    await symlink("v2", join(folder, "data"));

    expect(await fingerprint()).not.toBe(before);
  });

  it("stays when only the time of a file changes, or the same is written again", async () => {
    const before = await fingerprint();

    await utimes(join(folder, "flatline.yaml"), 1, 1);
    await write("key", "one");

    expect(await fingerprint()).toBe(before);
  });
});

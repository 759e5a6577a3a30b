import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of its own for a program: gone at the end of its block. */
export interface ProgramFolder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file in it; flatline.yaml is what `flatline` reads there. */
  write(name: string, content: string | Uint8Array): Promise<void>;
  /** Reads a file in it as text. */
  read(name: string): Promise<string>;
}

/** Makes one under the system's temporary folder, with a flatline.yaml when `config` is given. */
export async function makeProgramFolder(config?: string): Promise<ProgramFolder> {
  const path = await mkdtemp(join(tmpdir(), "flatline-program-"));
  const write = (name: string, content: string | Uint8Array): Promise<void> => writeFile(join(path, name), content);
  if (config !== undefined) await write("flatline.yaml", config);
  return {
    path,
    write,
    read: (name) => readFile(join(path, name), "utf8"),
    [Symbol.asyncDispose]: async () => {
      await rm(path, { recursive: true, force: true });
    },
  };
}

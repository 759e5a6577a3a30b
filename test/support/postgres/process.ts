import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const ready = "database system is ready to accept connections";

export interface PostgresOptions {
  /** Holds the data, which outlive the process; every user must be able to enter it. */
  readonly folder: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly initdbFlags?: readonly string[];
  /** Settings of the server, by their names in postgresql.conf. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A PostgreSQL server on 127.0.0.1. */
export interface PostgresProcess {
  /** Resolves when it accepts connections. @throws Error with its log */
  start(): Promise<void>;
  /** Cuts connections and waits for the end of the process. */
  stop(): Promise<void>;
}

/** The user of the server's processes: PostgreSQL refuses to run as root. */
interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Prepares a server; initializes its data when the folder has none. */
export async function createPostgres(options: PostgresOptions): Promise<PostgresProcess> {
  const { folder, port } = options;
  const serverUser = await findServerUser();
  const binaries = installedBinaries();
  const launch = { ...serverUser, cwd: folder, env: { PATH: process.env["PATH"], LC_ALL: "C" } };
  const data = join(folder, "data");
  const isNew = !existsSync(join(data, "PG_VERSION"));
  await mkdir(data, { recursive: true, mode: 0o700 });
  await giveTo(data, serverUser);
  if (isNew) {
    const passwordFile = join(folder, "password");
    await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
    await giveTo(passwordFile, serverUser);
    const flags = [`--username=${options.user}`, `--pwfile=${passwordFile}`, "--auth=password", "--lc-messages=C"];
    await run(join(binaries, "initdb"), [`--pgdata=${data}`, ...flags, ...(options.initdbFlags ?? [])], launch);
    await rm(passwordFile);
  }

  const settings = { ...options.settings, listen_addresses: "127.0.0.1", unix_socket_directories: "", port };
  const args = ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  let server: ChildProcess | null = null;
  const stopAtExit = (): void => void server?.kill("SIGINT");

  return {
    start: async () => {
      const child = spawn(join(binaries, "postgres"), args, { ...launch, stdio: ["ignore", "ignore", "pipe"] });
      server = child;
      process.once("exit", stopAtExit);
      await new Promise<void>((resolve, reject) => {
        let log = "";
        child.stderr.setEncoding("utf8").on("data", (text: string) => {
          if (log.includes(ready)) return;
          log += text;
          if (log.includes(ready)) resolve();
        });
        child.on("error", reject);
        child.on("close", () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
      });
    },
    stop: async () => {
      const child = server;
      if (child === null) return;
      server = null;
      process.off("exit", stopAtExit);
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGINT");
      await ended;
    },
  };
}

/** Returns "nobody" for root, who exists everywhere; everybody else runs the server as themselves. */
async function findServerUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "nobody"])).stdout)),
  );
  return uid === undefined || gid === undefined ? {} : { uid, gid };
}

async function giveTo(path: string, { uid, gid }: ServerUser): Promise<void> {
  if (uid !== undefined && gid !== undefined) await run("chown", ["-R", `${uid}:${gid}`, path]);
}

/** Returns the folder of the newest PostgreSQL of this machine. @throws Error when it has none */
function installedBinaries(): string {
  const [newest] = globSync("/usr/lib/postgresql/*/bin/postgres").toSorted((left, right) =>
    right.localeCompare(left, "en", { numeric: true }),
  );
  if (newest === undefined) throw new Error("PostgreSQL is missing: .ci/install installs Debian's package postgresql");
  return dirname(newest);
}

/**
 * Finds and runs PostgreSQL's `pg_dump`, `pg_restore` and `psql`, without a password in the process list. They come in
 * one folder, with the client package of a version.
 * Next hop: `take.ts` and `restore.ts` run them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { binDirectories } from "../cluster/installed.ts";
import { libpqTarget } from "../cluster/libpq.ts";
import { run } from "../cluster/run.ts";
import { BackupError } from "./error.ts";

export type ProgramName = "pg_dump" | "pg_restore" | "psql";

export interface Programs {
  /** The folder of the programs. */
  folder: string;
  /** Major version, such as 17. */
  major: number;
  /** Full version, such as 17.2. */
  version: string;
}

/**
 * Finds the programs of the server's version, or else of the next newer one, which can also dump and restore an older
 * server. The PATH is searched last.
 *
 * @param server the server's major version
 * @param folders searched first, such as a cluster's own programs
 * @throws BackupError naming the package to install
 */
export async function findPrograms(server: number, folders: readonly (string | null)[] = []): Promise<Programs> {
  const found: Programs[] = [];
  for (const folder of new Set([...folders, ...binDirectories("pg_dump")])) {
    if (!folder || !["pg_dump", "pg_restore", "psql"].every((name) => existsSync(join(folder, name)))) continue;
    const { stdout } = await run(join(folder, "pg_dump"), ["--version"]);
    const [, version, major] = /\(PostgreSQL\) ((\d+)\S*)/.exec(stdout) ?? [];
    if (version && major) found.push({ folder, version, major: Number(major) });
    if (Number(major) === server) break;
  }
  const [best] = found.filter(({ major }) => major >= server).sort((a, b) => a.major - b.major);
  if (best) return best;
  const newest = found.sort((a, b) => b.major - a.major)[0];
  throw new BackupError(
    newest
      ? `pg_dump ${newest.version} is older than the server, PostgreSQL ${server}, and refuses it.`
      : "There are no pg_dump, pg_restore and psql on this machine.",
    {
      hint: `Install the package postgresql-client-${server} (Debian and Ubuntu; from apt.postgresql.org where the distribution has an older one), postgresql${server} (yum.postgresql.org) or postgresql@${server} (Homebrew).`,
    },
  );
}

/** @param url its password is passed by the environment, which other users of the machine cannot read */
export function start(programs: Programs, name: ProgramName, args: readonly string[], url?: string): ChildProcess {
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    LC_ALL: "C",
    PGAPPNAME: `svc ${name}`,
  };
  const target: string[] = [];
  if (url) {
    const { dbname, env: password } = libpqTarget(url);
    Object.assign(env, password);
    target.push(`--dbname=${dbname}`, "--no-password");
  }
  return spawn(join(programs.folder, name), [...args, ...target], { env, stdio: ["pipe", "pipe", "pipe"] });
}

/** Resolves when the program has succeeded. @throws BackupError with the first line of its errors */
export function ended(child: ChildProcess, name: ProgramName): Promise<void> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (said.length < 10_000) said += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) return resolve();
      const lines = said.split("\n").filter(Boolean);
      const line = lines.find((one) => /error|fatal/i.test(one)) ?? lines[0] ?? `it ended with ${signal ?? code}`;
      reject(new BackupError(`${name}: ${line.replace(/^(pg_dump|pg_restore|psql):\s*/, "")}`));
    });
  });
}

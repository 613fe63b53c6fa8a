/** Finds PostgreSQL servers that the machine already has: Debian, PGDG, Homebrew, Postgres.app, or on the PATH. */
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { ServerUser } from "./places.ts";
import { run, serverEnvironment } from "./run.ts";
import type { Programs } from "./types.ts";
import { oldestMajor } from "./versions.ts";

/** Directories with one sub-directory per version, which contains `bin`. */
const homes = [
  { parent: "/usr/lib/postgresql", matches: /^\d+$/ }, // Debian, Ubuntu, PGDG for apt
  { parent: "/usr", matches: /^pgsql-\d+$/ }, // PGDG for rpm
  { parent: "/opt/homebrew/opt", matches: /^postgresql@\d+$/ },
  { parent: "/usr/local/opt", matches: /^postgresql@\d+$/ },
  { parent: "/Applications/Postgres.app/Contents/Versions", matches: /^\d+$/ },
] as const;

/**
 * Returns the usable servers, best first: with pgvector before without, then the newest version.
 *
 * @param refused gets one sentence per server that was found but cannot be used
 */
export async function findInstalled(user: ServerUser | null, refused: string[]): Promise<Programs[]> {
  const found: (Programs & { vector: boolean })[] = [];
  for (const binDir of binDirectories()) {
    const version = await askVersion(binDir, user);
    if (version.major === null) {
      refused.push(`${binDir} does not run: ${version.problem}.`);
    } else if (version.major < oldestMajor) {
      refused.push(`${binDir} is version ${version.major}, and ${oldestMajor} is the oldest that works.`);
    } else {
      const vector = (await installedVector(binDir)) !== null;
      const { serverVersion, major } = version;
      found.push({ origin: "installed", binDir, serverVersion, major, reason: "", vector });
    }
  }
  found.sort((a, b) => Number(b.vector) - Number(a.vector) || b.major - a.major);
  return found.map(({ vector, ...programs }) => ({
    ...programs,
    reason: `PostgreSQL ${programs.serverVersion} is installed in ${programs.binDir}${vector ? " with pgvector" : ""}.`,
  }));
}

/** Asks the server program for its version, as the user that will run it: that user may not enter some directories. */
export async function askVersion(
  binDir: string,
  user: ServerUser | null,
): Promise<{ major: number; serverVersion: string } | { major: null; problem: string }> {
  // A client package contains no initdb or no postgres.
  if (!existsSync(join(binDir, "initdb"))) return { major: null, problem: "it has no initdb" };
  const asked = await run(join(binDir, "postgres"), ["-V"], { user, env: serverEnvironment(), cwd: "/" });
  const version = /\(PostgreSQL\) (\d+)(\S*)/.exec(asked.stdout);
  if (!version) return { major: null, problem: asked.stderr.trim().split("\n")[0] || "it does not say its version" };
  return { major: Number(version[1]), serverVersion: `${version[1]}${version[2]}` };
}

/** The folders where a server looks for extensions. */
export async function extensionDirectories(binDir: string): Promise<{ share: string; library: string }> {
  const asked = await run(join(binDir, "pg_config"), ["--sharedir", "--pkglibdir"]);
  const [share, library] = asked.stdout.trim().split("\n");
  if (asked.ok && share && library) return { share, library };
  const prefix = resolve(binDir, "..");
  const nested = existsSync(join(prefix, "share/postgresql")) ? "postgresql" : "";
  return { share: join(prefix, "share", nested), library: join(prefix, "lib", nested) };
}

/** The pgvector version among a server's own extensions, or null if there is none. */
export async function installedVector(binDir: string): Promise<string | null> {
  const { share } = await extensionDirectories(binDir);
  return controlVersion(join(share, "extension/vector.control"));
}

/** The version that an extension's control file declares. */
export function controlVersion(file: string): string | null {
  try {
    return /^\s*default_version\s*=\s*'([^']+)'/m.exec(readFileSync(file, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Where a program of PostgreSQL is, by version, and last on the PATH. */
export function binDirectories(program = "postgres"): string[] {
  const all = new Set<string>();
  for (const { parent, matches } of homes) {
    for (const version of childrenOf(parent)) if (matches.test(version)) all.add(join(parent, version, "bin"));
  }
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    // A wrapper or link points to the real directory, which has share and lib beside it.
    if (directory && existsSync(join(directory, program))) {
      all.add(resolve(realpathSync(join(directory, program)), ".."));
    }
  }
  return [...all].filter((directory) => existsSync(join(directory, program)));
}

function childrenOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

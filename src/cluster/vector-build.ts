/**
 * Compiles pgvector for one major version of PostgreSQL from the distribution's source package. Any user may do it, and
 * nothing is installed. Next hop: `apt.ts` fetches source and headers.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fetchHeaders, fetchVectorSource, type Obstacle } from "./apt.ts";
import { controlVersion } from "./installed.ts";
import { run } from "./run.ts";
import type { Programs } from "./types.ts";
import { isAtLeast, oldestVector } from "./versions.ts";

/** A directory with vector.so, vector.control and the SQL scripts. */
export interface Build {
  directory: string;
  version: string;
}

// As in pgvector's own Makefile, without -march=native, because a container's volume may move to another processor. And
// without -fvisibility=hidden, because version 15 would not find the functions.
const flags = ["-O2", "-fPIC", "-shared", "-fno-strict-aliasing", "-fwrapv", "-ftree-vectorize"].concat([
  "-fassociative-math",
  "-fno-signed-zeros",
  "-fno-trapping-math",
  "-w",
]);

/** @param target the folder of the result; its content is replaced */
export async function buildVector(
  programs: Programs,
  target: string,
  report: (line: string) => void,
): Promise<Build | Obstacle> {
  const compiler = await findCompiler();
  if (!compiler) {
    return {
      problem: "there is no C compiler",
      remedy: "Install one (Debian and Ubuntu: `apt install gcc libc6-dev`) and run scripts/setup again.",
    };
  }
  const work = mkdtempSync(`${target}-`);
  try {
    report("fetching the source of pgvector");
    const source = await fetchVectorSource(work);
    if (typeof source !== "string") return source;
    const version = controlVersion(join(source, "vector.control")) ?? "";
    if (!isAtLeast(version, oldestVector)) return tooOld(`the distribution's is version ${version} only`);

    const headers = await findHeaders(programs, work);
    if (typeof headers !== "string") return headers;

    report(`compiling pgvector ${version} for PostgreSQL ${programs.major}`);
    const code = readdirSync(join(source, "src")).filter((name) => name.endsWith(".c"));
    const sources = code.map((name) => join("src", name));
    const built = await run(compiler, [...flags, `-I${headers}`, ...sources, "-o", "vector.so", "-lm"], {
      cwd: source,
    });
    if (!built.ok) {
      const said = built.stderr.split("\n").find((line) => /error/.test(line)) ?? built.stderr.slice(0, 200);
      return tooOld(`version ${version} does not compile for PostgreSQL ${programs.major} (${said.trim()})`);
    }
    collect(source, version, join(work, "result"));
    rmSync(target, { recursive: true, force: true });
    renameSync(join(work, "result"), target);
    return { directory: target, version };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function findCompiler(): Promise<string | null> {
  for (const name of [process.env.CC, "cc", "gcc", "clang"]) {
    if (name && (await run(name, ["--version"])).ok) return name;
  }
  return null;
}

/** Finds installed headers, or fetches the distribution's. */
async function findHeaders(programs: Programs, work: string): Promise<string | Obstacle> {
  const embedded = programs.origin === "embedded";
  if (!embedded) {
    const asked = await run(join(programs.binDir, "pg_config"), ["--includedir-server"]);
    const directory = asked.stdout.trim();
    if (asked.ok && existsSync(join(directory, "postgres.h"))) return directory;
  }
  return fetchHeaders(work, programs.major, embedded);
}

function tooOld(problem: string): Obstacle {
  return { problem, remedy: "Install a package of pgvector, for example from apt.postgresql.org." };
}

/** Copies the files that `make install` would install. */
function collect(source: string, version: string, target: string): void {
  mkdirSync(target);
  copyFileSync(join(source, "vector.so"), join(target, "vector.so"));
  copyFileSync(join(source, "vector.control"), join(target, "vector.control"));
  copyFileSync(join(source, "sql/vector.sql"), join(target, `vector--${version}.sql`));
  for (const name of readdirSync(join(source, "sql"))) {
    if (name.startsWith("vector--")) copyFileSync(join(source, "sql", name), join(target, name));
  }
}

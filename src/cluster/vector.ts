/**
 * Adds pgvector to a server: the server's own, or one compiled here and stored beside the server programs, so nothing is
 * installed in the system. Never fails: without pgvector only vector search is missing, and `vectorNote` says how to get it.
 * Next hop: `vector-build.ts` compiles it.
 */
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Obstacle } from "./apt.ts";
import { controlVersion, extensionDirectories, installedVector } from "./installed.ts";
import { run, serverEnvironment } from "./run.ts";
import type { Programs, ResolveOptions, Tree } from "./types.ts";
import { buildVector } from "./vector-build.ts";
import { isAtLeast, oldestVector } from "./versions.ts";

type VectorPart = Pick<Tree, "vector" | "vectorNote" | "settings" | "requires">;

/** The place where this server finds a foreign extension, and the settings for it. */
interface Destination {
  share: string;
  library: string;
  settings: Record<string, string>;
}

export async function provideVector(programs: Programs, options: ResolveOptions): Promise<VectorPart> {
  const own = programs.origin === "installed" ? await installedVector(programs.binDir) : null;
  if (own && isAtLeast(own, oldestVector)) return { vector: own, vectorNote: null, settings: {}, requires: [] };
  try {
    return await provideOwn(programs, options);
  } catch (error) {
    // Any error, such as a full disk or a missing file: the server itself still works.
    return without({ problem: (error as Error).message, remedy: "Fix that and run scripts/setup again." });
  }
}

async function provideOwn(programs: Programs, options: ResolveOptions): Promise<VectorPart> {
  const destination = await destinationFor(programs, options);
  if (!destination) {
    return without({
      problem: "this server loads extensions from its own directories only",
      remedy: "Install pgvector there (for example `brew install pgvector`) and run scripts/setup again.",
    });
  }
  const compiled = join(options.directory, `pgvector-${programs.major}`);
  const earlier = controlVersion(join(compiled, "vector.control"));
  const build = earlier
    ? { directory: compiled, version: earlier }
    : await buildVector(programs, compiled, options.report);
  if ("problem" in build) return without(build);

  const extension = join(destination.share, "extension");
  for (const path of [extension, destination.library]) mkdirSync(path, { recursive: true });
  for (const name of readdirSync(build.directory)) {
    copyFileSync(join(build.directory, name), join(name.endsWith(".so") ? destination.library : extension, name));
  }
  await run("chmod", ["-R", "a+rX", options.directory]); // the server's user must read it, whatever our umask is
  return {
    vector: build.version,
    vectorNote: null,
    settings: destination.settings,
    requires: [join(extension, "vector.control"), join(destination.library, "vector.so")],
  };
}

/** Copied programs can load our files directly. Others need a setting: Debian's patch, or PostgreSQL's own from 18 on. */
async function destinationFor(programs: Programs, options: ResolveOptions): Promise<Destination | null> {
  const { share, library } = await extensionDirectories(programs.binDir);
  if (programs.origin === "embedded") return { share, library, settings: {} };

  const described = await run(join(programs.binDir, "postgres"), ["--describe-config"], {
    user: options.user,
    env: serverEnvironment(),
    cwd: "/",
  });
  const root = join(options.directory, `extensions-${programs.major}`);
  if (/^extension_destdir\t/m.test(described.stdout)) {
    return { share: join(root, share), library: join(root, library), settings: { extension_destdir: root } };
  }
  if (/^extension_control_path\t/m.test(described.stdout)) {
    const [ourShare, ourLibrary] = [join(root, "share"), join(root, "lib")];
    const settings = { extension_control_path: `$system:${ourShare}`, dynamic_library_path: `$libdir:${ourLibrary}` };
    return { share: ourShare, library: ourLibrary, settings };
  }
  return null;
}

function without({ problem, remedy }: Obstacle): VectorPart {
  const vectorNote = `Vector search is off, because pgvector is missing: ${problem}. ${remedy}`;
  return { vector: null, vectorNote, settings: {}, requires: [] };
}

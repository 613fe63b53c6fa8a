/**
 * `npm run pack`: builds what is published, as .tgz files: compiled ES modules with types, the platform's SQL, the
 * starter. The repository runs from source, so the manifests of the packages are made here.
 *
 * Usage: node scripts/pack.ts [folder]   (Default: .svc/packages)
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const out = resolve(process.argv[2] ?? join(root, ".svc/packages"));
const bin = (name: string) => join(root, "node_modules/.bin", name);

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  exports: Record<string, string>;
  [key: string]: unknown;
}

/** What applications use beside us, one copy for both: they choose the version within our range. */
const shared: ReadonlySet<string> = new Set(["drizzle-orm", "@tanstack/react-query"]);
/** What we reach into behind a dependency of ours: published as one, or npm would take whatever is new. */
const steadied: Record<string, readonly string[]> = { pg: ["pg-pool", "pg-protocol"] };
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages as Record<
  string,
  { version: string } | undefined
>;

interface Package {
  /** Where its package.json and its src/ are. */
  folder: string;
  /** What is compiled, and the folder that the result lies in. The core's keep their places: they refer to each other. */
  sources: string[];
  into: string;
  /** Members of the manifest that are published as they are. */
  keep: string[];
  /** Further files, by their place in the package. */
  files: Record<string, string>;
  bin?: Record<string, string>;
}

/** Files of Studio's page that are not compiled. */
const studioFiles: Package["files"] = { "src/index.html": "dist/index.html", "src/style.css": "dist/style.css" };

const packages: Package[] = [
  {
    folder: root,
    sources: ["src", "workers"],
    into: ".",
    keep: ["engines", "dependencies", "optionalDependencies"],
    files: {
      sql: "sql",
      migrations: "migrations",
      "examples/starter": "starter",
      docs: "docs",
      "llms.txt": "llms.txt",
      "CHANGELOG.md": "CHANGELOG.md",
    },
    bin: { svc: "./src/cli/svc.js" },
  },
  ...["sdk", "react", "testing", "studio"].map((name) => ({
    folder: join(root, "client", name),
    sources: ["src"],
    into: "dist",
    keep: ["sideEffects", "dependencies", "peerDependencies", "peerDependenciesMeta"],
    files: name === "studio" ? studioFiles : {},
  })),
];

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const each of packages) process.stderr.write(`${build(each)}\n`);

/** @returns the archive's path */
function build({ folder, sources, into, keep, files, bin: commands }: Package): string {
  const source = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const stage = join(out, basename(source.name));
  const base = into === "." ? folder : join(folder, "src");
  compile(
    base,
    sources.map((source) => join(folder, source)),
    join(stage, into),
  );
  for (const [from, to] of Object.entries(files)) {
    cpSync(join(folder, from), join(stage, to), { recursive: true, filter: isPublished });
  }
  for (const file of ["LICENSE", "README.md"]) cpSync(join(root, file), join(stage, file));

  const { name, version, description, license } = source;
  const manifest = {
    ...{ name, version, description, license, type: "module" },
    ...Object.fromEntries(keep.filter((key) => key in source).map((key) => [key, source[key]])),
    ...("dependencies" in source && { dependencies: pinned(source.dependencies as Record<string, string>) }),
    exports: Object.fromEntries(Object.entries(source.exports).map(([path, file]) => [path, compiled(file, into)])),
    ...(commands && { bin: commands }),
  };
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const archive = execFileSync("npm", ["pack", "--silent", "--pack-destination", out], {
    cwd: stage,
    encoding: "utf8",
  });
  return join(out, archive.trim());
}

/** The versions that the tests ran with, so that applications do not get others. */
function pinned(dependencies: Record<string, string>): Record<string, string> {
  const names = Object.keys(dependencies).flatMap((name) => [name, ...(steadied[name] ?? [])]);
  return Object.fromEntries(
    names.sort().map((name) => {
      const locked = name.startsWith("@svc/") || shared.has(name) ? undefined : lock[`node_modules/${name}`];
      return [name, locked?.version ?? dependencies[name] ?? ""];
    }),
  );
}

function isPublished(path: string): boolean {
  return !/[\\/](node_modules|\.svc|dist)$/.test(path);
}

function compiled(file: string, into: string) {
  const path = (into === "." ? file : file.replace("./src/", `./${into}/`)).replace(/\.ts$/, "");
  return { types: `${path}.d.ts`, default: `${path}.js` };
}

function compile(base: string, sources: string[], into: string): void {
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { noEmit: false, declaration: true, rootDir: base, outDir: into },
    include: sources,
  };
  mkdirSync(into, { recursive: true });
  const file = join(into, "tsconfig.pack.json");
  writeFileSync(
    file,
    JSON.stringify({
      ...settings,
      compilerOptions: { ...settings.compilerOptions, types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
    }),
  );
  execFileSync(bin("tsc"), ["-p", file], { stdio: "inherit" });
  rmSync(file);
  // Declarations keep the sources' endings; who resolves them by file name has to find a .js beside the .d.ts.
  for (const name of readdirSync(into, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const path = join(into, name);
    writeFileSync(path, readFileSync(path, "utf8").replace(/(["']\.{1,2}\/[^"']*)\.ts(["'])/g, "$1.js$2"));
  }
}

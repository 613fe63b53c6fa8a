/**
 * `npm run pack`: builds what is published, as .tgz files: compiled ES modules with types, the platform's SQL, the
 * starter. The repository runs from source, so the manifests of the packages are made here.
 *
 * Usage: node scripts/pack.ts [folder]   (Default: .svc/packages)
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";

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
  /** Where its package.json is. */
  folder: string;
  /** What is compiled, with what it imports; files keep their places below `base`, in the folder `into`. */
  sources: string[];
  base: string;
  into: string;
  /** Not compiled. (Default: nothing) */
  exclude?: string[];
  /** Members of the manifest that are published as they are. */
  keep: string[];
  /** Further files, by their place in the package. (Default: none) */
  files?: Record<string, string>;
  bin?: Record<string, string>;
  /** Completes the package. */
  finish?: (stage: string) => void;
}

const engines = join(root, "src/documents/engines");
/** Files of Studio's page that are not compiled. */
const studioFiles: Package["files"] = { "src/index.html": "dist/index.html", "src/style.css": "dist/style.css" };

const packages: Package[] = [
  {
    folder: root,
    sources: ["src", "workers"],
    base: root,
    into: ".",
    exclude: [engines],
    keep: ["engines", "dependencies", "peerDependencies", "peerDependenciesMeta"],
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
  // What the engines share with the core is in both packages, so that neither depends on the other.
  {
    folder: engines,
    sources: ["child.ts"],
    base: join(root, "src"),
    into: ".",
    keep: ["dependencies", "optionalDependencies"],
  },
  ...["sdk", "react", "tanstack-db", "testing", "studio", "dev"].map((name) => ({
    folder: join(root, "client", name),
    sources: ["src"],
    base: join(root, "client", name, "src"),
    into: "dist",
    keep: ["sideEffects", "dependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta"],
    ...(name === "dev" && { finish: addDrizzleKit }),
    ...(name === "studio" && { files: studioFiles }),
  })),
];

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const each of packages) process.stderr.write(`${build(each)}\n`);

/** @returns the archive's path */
function build({
  folder,
  sources,
  base,
  into,
  exclude = [],
  keep,
  files = {},
  bin: commands,
  finish,
}: Package): string {
  const source = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const stage = join(out, basename(source.name));
  compile(
    base,
    sources.map((path) => join(folder, path)),
    exclude,
    join(stage, into),
  );
  for (const [from, to] of Object.entries(files)) {
    cpSync(join(folder, from), join(stage, to), { recursive: true, filter: isPublished });
  }
  for (const file of ["LICENSE", "README.md"]) cpSync(join(root, file), join(stage, file));
  finish?.(stage);

  const { name, version, description, license } = source;
  const compiled = (file: string) => {
    const path = `./${join(into, relative(base, join(folder, file))).replace(/\.ts$/, "")}`;
    return { types: `${path}.d.ts`, default: `${path}.js` };
  };
  const index = compiled(source.exports["."] as string);
  const manifest = {
    ...{ name, version, description, license, type: "module" },
    // For tools that read no `exports`, such as Parcel.
    ...{ main: index.default, types: index.types },
    ...Object.fromEntries(keep.filter((key) => key in source).map((key) => [key, source[key]])),
    ...("dependencies" in source && { dependencies: pinned(source.dependencies as Record<string, string>) }),
    ...(folder === root && { peerDependencies: atLeastTested(source.peerDependencies as Record<string, string>) }),
    exports: Object.fromEntries(Object.entries(source.exports).map(([path, file]) => [path, compiled(file)])),
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

/**
 * Optional packages: the command that svc names installs the versions that the tests ran with (optional-packages.ts). An
 * application that also uses one itself may take a newer one.
 */
function atLeastTested(dependencies: Record<string, string>): Record<string, string> {
  const tested = pinned(dependencies);
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, range]) => [name, range.startsWith("^") ? `^${tested[name]}` : range]),
  );
}

function isPublished(path: string): boolean {
  return !/[\\/](node_modules|\.svc|dist)$/.test(path);
}

/** One file of drizzle-kit in place of the package, whose dependencies are large and used by its command line alone. */
function addDrizzleKit(stage: string): void {
  const kit = join(root, "node_modules/drizzle-kit");
  const { name, version, license, homepage = "" } = JSON.parse(readFileSync(join(kit, "package.json"), "utf8"));
  const text = readFileSync(join(kit, "api.mjs"), "utf8");
  writeFileSync(join(stage, "dist/drizzle-kit.js"), `// ${name} ${version}, licence ${license} ${homepage}\n${text}`);
  const index = join(stage, "dist/index.js");
  writeFileSync(index, readFileSync(index, "utf8").replace('"drizzle-kit/api"', '"./drizzle-kit.js"'));
}

function compile(base: string, sources: string[], exclude: string[], into: string): void {
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { noEmit: false, declaration: true, rootDir: base, outDir: into },
    include: sources,
    exclude,
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

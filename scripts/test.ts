/**
 * `npm test`: vitest with the given arguments. `npm test -- --changed` runs only the test files nearest to what differs
 * from the last commit, as many as end in about ten seconds, and names the folders that guard the rest.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const root = join(import.meta.dirname, "..");
/** In milliseconds of one worker: what two workers do while vitest and PostgreSQL also have to start. */
const budget = 7_000;
/** In milliseconds, for a file that has not run here yet. */
const unknownDuration = 1_000;
/** In milliseconds: a database and modules that no file before has loaded. vitest does not count them. */
const startOfFile = 300;

const git = (...words: string[]) =>
  execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);

const stem = (path: string) => basename(path).replace(/\.(test|test-d)?\.?(ts|tsx|sql|md)$/, "");

/** Folders of tests/ that guard a file; CONTRIBUTING.md has the same table. */
function guardsOf(path: string): string[] {
  const [top = "", folder = ""] = path.split("/");
  if (top === "tests") return [folder];
  if (top === "docs" || !path.includes("/")) return ["docs"];
  if (top === "migrations") return ["sql"];
  if (top === "client" || top === "workers") return [top];
  const others: Record<string, string[]> = {
    app: ["define"],
    contract: ["define"],
    call: ["policies", "http"],
    server: ["http"],
    service: ["http"],
    cluster: ["postgres"],
    migrate: ["sql"],
    access: ["policies"],
  };
  return others[folder] ?? [folder];
}

/** Every test file, with what it imports from src/, client/ and workers/. */
function testFiles(): { path: string; imports: Set<string> }[] {
  return readdirSync(join(root, "tests"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
    .map((name) => {
      const path = join("tests", name);
      const found = readFileSync(join(root, path), "utf8").matchAll(/from "(\.[^"]+)"/g);
      const imports = [...found].map(([, to = ""]) => resolve(root, dirname(path), to).slice(root.length + 1));
      return { path, imports: new Set(imports) };
    });
}

/** Milliseconds of each file's last run here, as vitest remembers them. */
function durations(): Map<string, number> {
  const cache = join(root, "node_modules/.vite/vitest");
  try {
    const folder = readdirSync(cache, { withFileTypes: true }).find((entry) => entry.isDirectory())?.name ?? "";
    const { projects } = JSON.parse(readFileSync(join(cache, folder, "results.json"), "utf8"));
    const files = Object.values(projects).flatMap((project) => Object.entries(Object(project).files));
    return new Map(files.map(([path, ran]) => [path, Number(Object(ran).duration)]));
  } catch {
    return new Map(); // nothing has run yet
  }
}

/** @returns the nearest test files, and the folders that have further ones */
function nearest(changed: string[]): { run: string[]; folders: string[] } {
  const took = durations();
  const folders = new Set(changed.flatMap(guardsOf));
  const files = testFiles()
    .map(({ path, imports }) => {
      const isNamed = changed.some((file) => stem(path) === stem(file));
      const isNear = changed.includes(path) || changed.some((file) => imports.has(file)) || isNamed;
      return { path, rank: isNear ? 0 : folders.has(path.split("/")[1] ?? "") ? 1 : 2 };
    })
    .filter(({ rank }) => rank < 2)
    .map((file) => ({ ...file, duration: startOfFile + (took.get(file.path) ?? unknownDuration) }))
    .sort((a, b) => a.rank - b.rank || a.duration - b.duration);
  let sum = 0;
  const run = files.filter(({ duration }, index) => {
    sum += duration;
    return sum <= budget || index === 0;
  });
  return { run: run.map(({ path }) => path), folders: [...folders].map((folder) => `tests/${folder}`) };
}

const given = process.argv.slice(2);
let words = given;
if (given.includes("--changed")) {
  const changed = [...git("diff", "--name-only", "HEAD"), ...git("ls-files", "--others", "--exclude-standard")];
  const { run, folders } = nearest(changed.length > 0 ? changed : git("diff", "--name-only", "HEAD~1"));
  if (run.length === 0) {
    console.log("No test file guards what changed. Run npm test for all of them.");
    process.exit(0);
  }
  console.log(
    `${run.length} test files are nearest to what changed. All that guard it: npm test -- ${folders.join(" ")}`,
  );
  words = [...given.filter((word) => word !== "--changed"), "--typecheck.enabled=false", ...run];
}
/** As in the units of deploy/. V8's default doubles the young generation while modules load, and copies it each time. */
const NODE_OPTIONS = process.env.NODE_OPTIONS ?? "--max-semi-space-size=8";
const { status } = spawnSync(join(root, "node_modules/.bin/vitest"), ["run", ...words], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, NODE_OPTIONS },
});
process.exit(status ?? 1);

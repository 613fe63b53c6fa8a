/**
 * The published packages from a user's view: packed, installed by npm outside the repository with the machine's own
 * Node, type-checked by the oldest and the newest supported TypeScript, and run.
 */
import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { followTutorial } from "./follow-tutorial.ts";
import { takeBuiltPage } from "./page-size.ts";
import { otherVersions, placesOf } from "./resolved-versions.ts";
import { runIn } from "./run-in.ts";
import { readTutorial } from "./tutorial.ts";
import { serving, visit } from "./visit.ts";

const db = database("template1");
const viewDb = database("template1");
const tutorialDb = database("template1");
let folder: string;
let app: string;
const startersTest = "starter/tests/notes.test.ts";
const packages = () => join(folder, "packages");
const tools = ["publint@0.3", "@arethetypeswrong/cli@0.18", "typescript@5.9"];
const tool = (name: string) => join(folder, "tools/node_modules/.bin", name);

/** Without the repository's programs, with the Node of this machine, whatever its version. */
const env: NodeJS.ProcessEnv = {
  ...process.env,
  // `npm ci` has just fetched hundreds of packages: they need no check against the registry.
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  PATH: (process.env.PATH ?? "")
    .split(":")
    .filter((entry) => !entry.includes("node_modules"))
    .join(":"),
  PORT: "0",
};
const withDatabase = (target = db): NodeJS.ProcessEnv => ({
  ...env,
  DATABASE_URL: target.url("request"),
  DATABASE_SYSTEM_URL: target.url("system"),
  DATABASE_AUTH_URL: target.url("auth"),
  DATABASE_ADMIN_URL: target.url("admin"),
  DATABASE_REPLICATION_URL: target.url("replication"),
});
/** For @svc/testing, which creates its own databases on the server. */
const testDatabase = () =>
  Object.fromEntries(
    Object.entries(withDatabase())
      .filter(([name]) => name.startsWith("DATABASE_"))
      .map(([name, value]) => [`SVC_TEST_${name}`, value]),
  );
const node = () => join(app, "node_modules/.bin/node");

const run = (command: string, args: string[], cwd = app, environment = env) => runIn(cwd, command, args, environment);

/**
 * The packed command, for `npx` in an empty folder. It uses the repository's dependencies: the tests of the application
 * show that npm installs them, and hundreds of packages need not be fetched twice.
 */
async function unpackCommand(archive: string): Promise<void> {
  const modules = join(folder, "empty/node_modules");
  const core = join(modules, "@svc/core");
  await mkdir(core, { recursive: true });
  await run("tar", ["xzf", join(packages(), archive), "--strip-components=1", "-C", core], folder);
  await symlink(join(root, "node_modules"), join(core, "node_modules"));
  const command = join(core, "src/cli/svc.js");
  await chmod(command, 0o755); // as npm does
  await mkdir(join(modules, ".bin"));
  await symlink(command, join(modules, ".bin/svc"));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-packages-"));
  app = join(folder, "my-app");
  env.NODE_COMPILE_CACHE = join(folder, "compiled"); // goes with the packages that are in it
  await mkdir(join(folder, "tools"));
  await writeFile(join(folder, "tools/package.json"), "{}");
  await Promise.all([
    run(process.execPath, [join(root, "scripts/pack.ts"), packages()], root, process.env),
    run("npm", ["install", "--silent", ...tools], join(folder, "tools")),
  ]);
  const archives = (await readdir(packages())).filter((name) => name.endsWith(".tgz"));
  await unpackCommand(archives.find((name) => name.startsWith("svc-core")) ?? "");
  const [make] = await readTutorial();
  const [pack, init, enter] = (make?.steps ?? []).map((step) => (step.kind === "run" ? step.command : ""));
  expect([pack, enter]).toEqual(["npm run pack", "cd ../my-app"]);
  await run("sh", ["-c", `${init} --packages ${packages()}`], join(folder, "empty"));
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

describe("the packages", () => {
  test("hold what runs, and nothing of the repository's own", async () => {
    const inside = async (name: string) => (await run("tar", ["tzf", join(packages(), name)], folder)).split("\n");
    const core = await inside("svc-core-0.1.0.tgz");
    for (const path of [
      "src/cli/svc.js",
      "src/index.d.ts",
      "workers/runner.js",
      "sql/roles.sql",
      "migrations/0001_create_ledger.sql",
    ]) {
      expect(core).toContain(`package/${path}`);
    }
    expect(core).toContain("package/starter/gitignore");
    expect(core).toContain(`package/${startersTest}`);
    const client = await inside("svc-client-0.1.0.tgz");
    for (const path of [...core, ...client].filter((path) => !path.endsWith(startersTest)))
      expect(path).not.toMatch(/tests\/|node_modules|\.svc\/|\.env|tsconfig\.pack/);
    expect(client.filter((path) => /\/(sql|migrations)\//.test(path))).toEqual([]);
  });

  // A dependency whose packages for other systems were not all published caused a lock file that `npm ci` refused.
  test("install to a lock file that `npm ci` takes, as the application's Dockerfile does", async () => {
    await run("npm", ["ci", "--dry-run", "--ignore-scripts"]);
  });

  test("take at most 190 MB without the development tools", async () => {
    const light = join(folder, "light");
    await mkdir(light);
    await writeFile(join(light, "package.json"), "{}");
    const archive = join(packages(), "svc-core-0.1.0.tgz");
    const started = performance.now();
    await run("npm", ["install", "--omit=dev", archive], light);
    const seconds = Math.round((performance.now() - started) / 1000);
    const megabytes = Number.parseInt(await run("du", ["-sm", "node_modules"], light), 10);
    console.info(`npm install --omit=dev @svc/core: ${megabytes} MB, ${seconds} s`);
    expect(megabytes).toBeLessThanOrEqual(190);
  });

  // Ranges, and an `overrides` of the repository alone, gave applications other versions than the tests ran with.
  test("resolve to the versions that the tests run with", async () => {
    expect(await otherVersions(app)).toEqual([]);
    // An application installs the engines only if it converts documents: their manifest pins what npm would choose.
    const engines = JSON.parse(await readFile(join(packages(), "documents/package.json"), "utf8"));
    const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")).packages;
    const pinned = Object.entries<string>({ ...engines.dependencies, ...engines.optionalDependencies });
    expect(pinned.filter(([name, version]) => lock[`node_modules/${name}`].version !== version)).toEqual([]);
    const { overrides = {}, devDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    expect(Object.keys(overrides).filter((name) => !(name in devDependencies))).toEqual([]);
    expect(JSON.parse(await readFile(join(app, "package.json"), "utf8"))).not.toHaveProperty("overrides");
  });

  // npm took the newest TanStack DB for the collections beside the one that the hooks name: their types did not fit.
  test("leave TanStack DB to the binding that brings it", async () => {
    const place = join(folder, "collections");
    await mkdir(place);
    await writeFile(join(place, "package.json"), "{}");
    const archives = ["client", "tanstack-db"].map((name) => join(packages(), `svc-${name}-0.1.0.tgz`));
    await run("npm", ["install", "--package-lock-only", ...archives, "@tanstack/react-db@0.5.11"], place);
    expect(await placesOf("@tanstack/db", place)).toEqual(["node_modules/@tanstack/db"]);
  });

  test.each(["core", "client", "react", "tanstack-db", "testing", "studio", "dev", "documents"])(
    "@svc/%s is as npm and its tools expect a package",
    async (name) => {
      const args = [join(packages(), name), "--strict"];
      const output = await run(tool("publint"), args, folder, { ...env, NO_COLOR: "1" });
      // It complains that the starter has a test.
      const strange = output.split("\n").filter((line) => /^\d+\. /.test(line) && !line.includes(startersTest));
      expect(strange).toEqual([]);
      expect(output).toMatch(/All good!|^Suggestions:$/m);
      expect(output).not.toMatch(/^(Warnings|Errors):$/m);
      const { main, types, exports } = JSON.parse(await readFile(join(packages(), name, "package.json"), "utf8"));
      expect({ types, default: main }).toEqual(exports["."]); // for Parcel, which reads no `exports`
    },
  );

  test.each(["core", "client", "react", "tanstack-db", "testing", "studio"])(
    "the types of @svc/%s resolve wherever ES modules do",
    async (name) => {
      const archive = join(packages(), `svc-${name}-0.1.0.tgz`);
      // It exits with 1 when there is a problem.
      const args = [archive, "--profile", "esm-only", "--format", "ascii"];
      expect(await run(tool("attw"), args, folder)).toContain(`"@svc/${name}"`);
    },
  );

  test("make a download of less than 12.5 KiB of the simplest page, as it is before the tutorial", async () => {
    await run("npm", ["run", "--silent", "build"]);
    expect(await takeBuiltPage(app)).toBeLessThan(12.5 * 1024);
  });
});

describe("the command on a Node that is too old", () => {
  const [major = 0, minor = 0] = execFileSync("node", ["-p", "process.versions.node"], { env, encoding: "utf8" })
    .split(".")
    .map(Number);

  test.skipIf(major > 22 || (major === 22 && minor >= 18))("says which one it needs, and how to get it", async () => {
    const old = run("node", [join(folder, "empty/node_modules/@svc/core/src/cli/svc.js"), "dev"], folder);
    await expect(old).rejects.toThrow(
      /svc runs on the Node 24 that its application brings[\s\S]*npm install --save-dev node@24/,
    );
  });
});

if (!chromiumPath) test.skip(`the tutorial, followed to the letter: ${whySkipped}`);
describe.skipIf(!chromiumPath)(
  "the tutorial, followed to the letter",
  // Each section builds on the folder, database and processes of the one before. A second try would start from what
  // the first left, and its error would hide the first one.
  { timeout: 120_000, retry: 0 },
  () => {
    followTutorial({
      app: () => app,
      db: tutorialDb,
      env: () => {
        const { PORT: _free, ...others } = { ...withDatabase(tutorialDb), ...testDatabase() };
        return others;
      },
    });
  },
);

describe("an application that svc init made", () => {
  test("has the name of its folder and a Node of its own", async () => {
    expect(JSON.parse(await readFile(join(app, "package.json"), "utf8"))).toMatchObject({ name: "my-app" });
    expect(await run(node(), ["--version"])).toMatch(/^v24\./);
    expect(await readFile(join(app, ".gitignore"), "utf8")).toContain(".svc");
  });

  test("takes at most 370 MB with its own Node, and brings none where the machine has Node 24", async () => {
    const megabytes = Number.parseInt(await run("du", ["-sm", "node_modules"]), 10);
    console.info(`svc init: ${megabytes} MB`);
    expect(megabytes).toBeLessThanOrEqual(370);
    const programs = join(folder, "programs");
    await mkdir(programs);
    await symlink(process.execPath, join(programs, "node"));
    const init = [join(root, "src/cli/svc.ts"), "init", join(folder, "light-app"), "--no-install"];
    await run(process.execPath, init, folder, { ...process.env, PATH: `${programs}:${process.env.PATH}` });
    expect(await readFile(join(folder, "light-app/package.json"), "utf8")).not.toContain('"node":');
  });

  test("type-checks under TypeScript 7 and 5.9", async () => {
    await run("npm", ["run", "--silent", "typecheck"]);
    await run(tool("tsc"), ["--noEmit"]);
  });

  test("would not, if its page mistook a column or an operation, and says no more than that", async () => {
    const page = join(app, "web/main.ts");
    const good = await readFile(page, "utf8");
    const mistaken = good
      .replace("{ id, text, done }", "{ id, title, done }")
      .replace("notes.clearDone", "notes.clear")
      .replace("{ limit: 100 }", "{ limit: 100, filters: { text: 'x' } }");
    await writeFile(page, mistaken);
    const said = await run("npm", ["run", "--silent", "typecheck"]).catch(String);
    expect(said).toMatch(/'title' does not exist/);
    expect(said).toContain("Property 'clear' does not exist on type 'NotesOperations'.");
    expect(said).toContain("'text' does not exist in type 'FiltersOf<{ done: Exact<boolean>; }>'");
    await writeFile(page, good);
  });

  test("is built, migrated and served", async () => {
    await run("npm", ["run", "--silent", "build"]);
    await run("npm", ["run", "--silent", "migrate"], app, withDatabase());
    await serving(app, withDatabase(), async (url) => {
      expect(await (await fetch(url)).text()).toContain("<title>Notes</title>");
      const visitor = join(app, "visit.ts");
      await writeFile(visitor, visit);
      expect(await run(node(), [visitor, url])).toContain("visited: first, done; removed 1");
    });
  });
});

describe("an application as the documentation shows one, on the packed packages", () => {
  const view = () => join(folder, "app-view");

  beforeAll(async () => {
    await cp(join(import.meta.dirname, "app-view"), view(), { recursive: true });
    for (const file of ["package.json", "tsconfig.json"]) await cp(join(app, file), join(view(), file));
    await symlink(join(app, "node_modules"), join(view(), "node_modules"));
    await run("npx", ["svc", "prepare"], view(), withDatabase(viewDb));
  });

  test("type-checks", () => run("npm", ["run", "--silent", "typecheck"], view()));

  test("runs", async () => {
    await serving(view(), withDatabase(viewDb), async (url) => {
      expect(JSON.parse(await run(node(), [join(view(), "web/visit.ts"), url], view()))).toEqual({
        name: "Ann",
        title: "Write docs",
        open: 1,
        isStored: true,
        found: [1, 1],
        run: "expense.approve",
        heard: 2,
        message: "hi",
        hello: "ann",
      });
    });
  });
});

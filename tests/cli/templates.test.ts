// If this file fails, an application that `svc init --template` makes does not run, or its AGENTS.md sends a coding agent
// to something that is not there. `npm run typecheck` checks the types of all templates.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dispatch } from "../../src/cli/dispatch.ts";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { visitNotes } from "../browser/visit-notes.ts";
import { program, runHere, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { root } from "../support/global-setup.ts";

const db = database("template1");
const templates = ["plain", "react", "next"];
let folder: string;
const app = (template: string) => join(folder, template);
const bin = join(root, "node_modules/.bin");

beforeAll(async () => {
  // Inside the project, where @svc/core resolves.
  await mkdir(join(root, ".svc"), { recursive: true });
  folder = await mkdtemp(join(root, ".svc/templates-"));
  for (const template of templates) await dispatch(["init", app(template), "--no-install", "--template", template]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.runIf(process.platform === "linux")(
  "a question that Ctrl-D closes makes nothing, and prints no stack",
  async () => {
    const command = [process.execPath, ...program, "init"].join(" ");
    const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.includes("(my-app)")) child.stdin.write("\u0004");
    });
    const [code] = await once(child, "close");
    expect([code, printed]).toEqual([1, expect.stringMatching(/\s+Nothing was made\.\s+$/)]);
  },
);

test("what to do next names a folder with a space as a shell reads it", async () => {
  const { error } = await runHere(["init", "ann's app", "--no-install"], {}, folder);
  expect(error).toContain("  cd 'ann'\\''s app'\n");
});

describe.each(templates)("%s", (template) => {
  test("has what its AGENTS.md and README.md name", async () => {
    const { scripts } = JSON.parse(await readFile(join(app(template), "package.json"), "utf8"));
    for (const file of ["AGENTS.md", "README.md"]) {
      const text = await readFile(join(app(template), file), "utf8");
      const [, ...rows] =
        text
          .split(/^\| (?:path|where) .*$/m)
          .join("\n")
          .match(/^\| `[^|]+\|/gm) ?? [];
      const paths = rows.flatMap((row) => [...row.matchAll(/`([\w./]+)`/g)].map(([, path = ""]) => path));
      expect(paths.length).toBeGreaterThan(5);
      for (const path of paths) expect(existsSync(join(app(template), path)), `${file}: ${path}`).toBe(true);
      for (const [, name = ""] of text.matchAll(/`npm (?:run )?([\w:]+)`/g)) expect(scripts, file).toHaveProperty(name);
    }
    expect(existsSync(join(app(template), ".gitignore"))).toBe(true);
    expect(existsSync(join(app(template), "gitignore"))).toBe(false);
  });
});

test("a template that does not exist is refused, before anything is made", async () => {
  await dispatch(["init", app("vue"), "--template", "vue"]);
  expect(process.exitCode).toBe(1);
  process.exitCode = 0;
  expect(existsSync(app("vue"))).toBe(false);
});

test("in a clone of svc, packages are those that npm run pack has made", async () => {
  const { dependencies } = JSON.parse(await readFile(join(app("plain"), "package.json"), "utf8"));
  const packed = join(root, ".svc/packages");
  if (existsSync(packed)) return expect(dependencies["@svc/core"]).toMatch(`file:${packed}/svc-core-`);
  expect(dependencies["@svc/core"]).toMatch(/^\^/);
  expect(await runHere(["init", app("unpacked")], {})).toMatchObject({
    code: 1,
    error: expect.stringContaining("npm run pack"),
  });
  expect(existsSync(app("unpacked"))).toBe(false);
});

test("the next template has Next in place of Vite", async () => {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(app("next"), "package.json"), "utf8"));
  expect(dependencies).toMatchObject({ next: expect.any(String), react: expect.any(String) });
  expect(Object.keys(devDependencies).filter((name) => name.includes("vite"))).toEqual([]);
  expect(existsSync(join(app("next"), "vite.config.ts"))).toBe(false);
});

if (!chromiumPath) test.skip(`the page of the react template: ${whySkipped}`);
test.skipIf(!chromiumPath)(
  "the page of the react template is live, behind Vite's server and from ports that are written nowhere else",
  async () => {
    const [page, service] = [await freePort(), await freePort()];
    const file = join(app("react"), "svc.config.ts");
    await writeFile(file, (await readFile(file, "utf8")).replace("localhost:5173", `localhost:${page}`));
    const env = { PORT: String(service), PATH: `${bin}:${process.env.PATH}`, NO_COLOR: "1" };
    const dev = svc(db, app("react"), ["dev", "--with", "vite"], env);
    try {
      await expect.poll(dev.output).toContain(`Ready: http://localhost:${service}`);
      await expect.poll(dev.output).toContain(`http://localhost:${page}`);
      await visitNotes(`http://localhost:${page}`);
    } finally {
      dev.child.kill("SIGTERM");
      await dev.ended;
    }
  },
);

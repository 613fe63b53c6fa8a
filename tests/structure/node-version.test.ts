// If this file fails, two pages tell a newcomer two versions of Node, or to run what belongs to another project.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";

const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
  .trim()
  .split("\n")
  .filter((file) => !/^(tests|bench|CHANGELOG)|package-lock/.test(file))
  .filter((file) => /\.(md|ts|tsx|json|txt|yaml|yml)$|^scripts\/setup$|Dockerfile$/.test(file));
const read = (file: string) => readFileSync(join(root, file), "utf8");
const minimum = JSON.parse(read("package.json")).engines.node.replace(">=", "");

test("one minimum version of Node is stated everywhere", () => {
  const stated = files.flatMap((file) =>
    [...read(file).matchAll(/Node (?:with npm \()?(\d[\d.]*) or newer|"node": ">= ?(\d[\d.]*)"/gi)].map(
      ([, words, engine]) => [file, words ?? engine],
    ),
  );
  const places = ["README.md", "docs/tutorial/first-application.md", "docs/reference/cli.md", "package.json"];
  expect(stated.map(([file]) => file)).toEqual(expect.arrayContaining([...places, "scripts/setup"]));
  expect(stated.filter(([, version]) => version !== minimum)).toEqual([]);
  expect(read("src/cli/svc.ts")).toContain(`major >= ${minimum})`);
  expect(read("scripts/setup")).toContain(`.split(".")[0]) >= ${minimum} ?`);
});

test("outside an application no page or hint says npx svc: that name belongs to another project", () => {
  expect(files.filter((file) => /npx (-y |--yes )?svc init/.test(read(file)))).toEqual([]);
  expect(read("README.md")).not.toContain("npx svc");
  const tutorial = read("docs/tutorial/first-application.md");
  expect(tutorial.slice(0, tutorial.indexOf("cd ../my-app"))).not.toContain("npx svc");
  expect(tutorial).toContain("npx @svc/core init");
});

test("the first commands of the README and the tutorial set a fresh clone up", () => {
  const tutorial = read("docs/tutorial/first-application.md");
  const readme = read("README.md");
  const [start = "", make = ""] = [
    readme.slice(readme.indexOf("## Start")),
    tutorial.slice(0, tutorial.indexOf("cd ")),
  ];
  const names = [start.slice(0, start.indexOf("## Twelve")), make].flatMap((text) =>
    [...text.matchAll(/\bnpm (?:run )?(start|test(?::all)?|pack)\b/g)].map(([, name]) => name ?? ""),
  );
  expect(new Set(names)).toEqual(new Set(["start", "test", "test:all", "pack"]));
  const { scripts } = JSON.parse(read("package.json"));
  for (const name of names) expect(scripts[`pre${name}`], name).toMatch(/^sh scripts\/setup/);
});

// If this file fails, a documentation page is missing in its index, or a link is broken.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { addressOf, llmsFullText, llmsText, made } from "../../scripts/llms.ts";
import { root } from "../support/global-setup.ts";

const docs = join(root, "docs");
const pages = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));

test("the index names every page for users: decisions have a folder, CONTRIBUTING.md names conformance", () => {
  const index = readFileSync(join(docs, "README.md"), "utf8");
  const missing = pages.filter(
    (page) => page !== "README.md" && !page.startsWith("adr/") && !index.includes(`(${page})`),
  );
  expect(missing).toEqual(["reference/conformance.md"]);
  expect(readFileSync(join(root, "CONTRIBUTING.md"), "utf8")).toContain("(docs/reference/conformance.md)");
});

test.for(["../README.md", "../CONTRIBUTING.md", "../SECURITY.md", "../CHANGELOG.md", ...pages])(
  "the links of %s lead to files",
  (page) => {
    const file = join(docs, page);
    const links = [...readFileSync(file, "utf8").matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(
      ([, target = ""]) => target,
    );
    const local = links.filter((target) => !/^[a-z]+:/.test(target));
    expect(local.filter((target) => !existsSync(join(dirname(file), target)))).toEqual([]);
  },
);

test.for(["../README.md", ...pages])("the examples of %s are fenced: indented ones would not be checked", (page) => {
  const text = readFileSync(join(docs, page), "utf8").replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");
  expect([...text.matchAll(/^(?![-*\d ]).+\n\n {4}\S.*/gm)].map(([found]) => found)).toEqual([]);
});

test("every picture is shown somewhere", () => {
  const texts = ["../README.md", "../examples/desk/README.md", ...pages].map((page) =>
    readFileSync(join(docs, page), "utf8"),
  );
  const unused = readdirSync(join(docs, "pictures")).filter(
    (name) => !texts.some((text) => text.includes(`pictures/${name})`)),
  );
  expect(unused).toEqual([]);
});

test("the map in CONTRIBUTING.md has every folder of the repository, and no other", () => {
  const map = /## Map\n(.*?)\n## /s.exec(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"))?.[1] ?? "";
  const named = [...map.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w/.-]+)\/`/g)].map(([, name]) => name),
  );
  const folders = (parent: string) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !/^(\.|node_modules|dist)/.test(entry.name))
      .map(({ name }) => join(parent, name));
  const parents = ["src", "client", "examples"];
  const there = [...folders(".").filter((name) => !parents.includes(name)), ...parents.flatMap(folders)];
  expect(named.toSorted()).toEqual(there.toSorted());
});

test.for(Object.entries(made))("%s is what the pages say: run `node scripts/llms.ts`", ([file, text]) => {
  expect(readFileSync(join(root, file), "utf8")).toBe(text());
});

test("llms.txt and llms-full.txt name and hold every page for users, by absolute addresses", () => {
  const users = pages.filter((page) => !/^(README|adr\/.*|reference\/conformance)\.md$/.test(page));
  const [index, full] = [llmsText(), llmsFullText()];
  const missing = users.filter((page) => {
    const address = addressOf(page);
    return !index.includes(`](${address}): `) || !full.includes(`<!-- ${address} -->\n\n# `);
  });
  expect(missing).toEqual([]);
  expect([...index.matchAll(/\]\((?!https:)/g)]).toEqual([]);
});

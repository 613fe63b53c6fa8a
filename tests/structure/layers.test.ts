// If this file fails, a folder cannot be understood without folders that it should not need: imports are circular, or
// point to a higher layer.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ownFolders } from "../../src/kit/program-files.ts";
import { root } from "../support/global-setup.ts";
import { circles, exists, importsOf, sourcesIn } from "./imports.ts";

/**
 * The folders of `src/`, and `workers/`, from the bottom to the top. A folder imports only from folders above it in
 * this list.
 */
const levels = [
  ["kit"],
  ["cluster"],
  ["config", "contract", "telemetry", "text"],
  ["audit", "http", "postgres"],
  ["history"],
  ["crud", "jobs", "storage"],
  ["ai", "realtime", "search", "webhooks"],
  ["codegen", "documents", "organizations", "rag", "transfer"],
  ["workflows"],
  ["app", "call"],
  ["auth", "graphql"],
  ["migrate", "openapi"],
  ["backup", "server"],
  ["service", "studio"],
  ["workers"],
  ["cli"],
];

const files = ["src", "workers"].flatMap(sourcesIn);
const imports = importsOf(files);
const folderOf = (path: string) => (path.startsWith("workers/") ? "workers" : (path.split("/")[1] as string));
const levelOf = (folder: string) => levels.findIndex((names) => names.includes(folder));
/** `src/index.ts` and `src/internal.ts` are the package's exports, not folders. */
const isFolder = (path: string) => !/^src\/[^/]+$/.test(path);

test("every folder has its level", () => {
  const folders = new Set(files.filter(isFolder).map(folderOf));
  expect([...folders].sort()).toEqual(levels.flat().sort());
});

test("folders import only from levels below theirs", () => {
  const upwards = imports
    .filter(({ from, to }) => isFolder(from) && folderOf(from) !== folderOf(to))
    .filter(({ from, to }) => !isFolder(to) || levelOf(folderOf(to)) >= levelOf(folderOf(from)))
    .map(({ from, to }) => `${from} imports ${to}`);
  expect(imports.length).toBeGreaterThan(1_000);
  expect(upwards).toEqual([]);
});

test("Studio is loaded only when it is opened", () => {
  const isOf = (path: string) => path.startsWith("src/studio/");
  const outside = imports.filter(({ from, to }) => isOf(to) && !isOf(from));
  expect(outside.filter(({ isType, isLazy }) => !isType && !isLazy)).toEqual([]);
  expect(new Set(outside.map(({ from }) => from))).toEqual(new Set(["src/cli/studio.ts", "src/cli/mcp.ts"]));
});

describe.each([
  ["src and workers", imports],
  ["client", importsOf(sourcesIn("client"))],
] as const)("%s", (_name, edges) => {
  test("no file imports itself by way of others", () => {
    expect(circles(edges.map(({ from, to }) => [from, to] as const))).toEqual([]);
  });

  test("every file that is imported exists", () => {
    expect(edges.filter(({ to }) => !exists(to)).map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });
});

describe("a comment that names a file", () => {
  /** Files of applications, which have a folder `sql` too. */
  const ofApplications = /^sql\/(crud\/|history\.sql$|search\.sql$|realtime\.sql$|webhooks\.sql$)/;
  const commentsOf = (file: string) =>
    (readFileSync(join(root, file), "utf8").match(/\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm) ?? []).join("\n");

  test("names one that exists", () => {
    const path = /(?<![\w/.@-])((?:src|workers|client|sql|docs|tests|migrations)\/[\w./-]+\.(?:ts|tsx|sql|md))\b/g;
    const broken = files.flatMap((file) =>
      [...commentsOf(file).matchAll(path)]
        .map(([, named = ""]) => named)
        .filter((named) => !ofApplications.test(named) && !exists(named))
        .map((named) => `${file} names ${named}`),
    );
    expect(broken).toEqual([]);
  });

  test("relative to its own folder names one that exists", () => {
    const broken = files.flatMap((file) =>
      [...commentsOf(file).matchAll(/`((?:\.\.?\/)+[\w./-]+\.tsx?)`/g)]
        .map(([, name = ""]) => join(dirname(file), name))
        .filter((named) => !exists(named))
        .map((named) => `${file} names ${named}`),
    );
    expect(broken).toEqual([]);
  });

  test("as the next hop, without a folder, names one beside it", () => {
    const broken = files.flatMap((file) => {
      const hop = /Next hop:([\s\S]*?)(?:\*\/|\.\n)/.exec(commentsOf(file))?.[1] ?? "";
      return [...hop.matchAll(/`([\w-]+\.tsx?)`/g)]
        .map(([, name = ""]) => join(dirname(file), name))
        .filter((named) => !exists(named))
        .map((named) => `${file} names ${named}`);
    });
    expect(broken).toEqual([]);
  });
});

test("no source file and no test is longer than 300 lines", () => {
  const long = [...files, ...sourcesIn("client"), ...sourcesIn("tests")]
    .map((file) => [file, readFileSync(join(root, file), "utf8").split("\n").length - 1] as const)
    .filter(([file, lines]) => lines > 300 && !/\/generated\/|\/web\/svc\/|\/\.svc\//.test(file));
  expect(long).toEqual([]);
});

test("the files that a sandboxed process imports lie in the folders that it may read", () => {
  const edges = new Map<string, string[]>();
  for (const { from, to, isType } of imports) if (!isType) edges.set(from, [...(edges.get(from) ?? []), to]);
  const reached = new Set(["src/documents/engines/child.ts", "src/storage/image-child.ts"]);
  for (const file of reached) for (const to of edges.get(file) ?? []) reached.add(to);
  expect([...new Set([...reached].map(folderOf))].filter((folder) => !ownFolders.includes(folder))).toEqual([]);
});

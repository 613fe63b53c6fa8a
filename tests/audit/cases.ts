/**
 * Small applications as text, several in a file of `cases/`. `=== name: title` begins an application, in its
 * `backend/tasks.ts`; `--- path` begins another file of it. A comment `! text` expects that text in a finding for its
 * line. `OPEN(…)` defines the anonymous handler, `ALLOW` is a complete allow comment, `NAME` the handler's name.
 * `defaults` supplies omitted parts.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface Case {
  name: string;
  title: string;
  files: ReadonlyMap<string, string>;
  /** For example `backend/tasks.ts:3`, and the text expected there. */
  expected: { place: string; text: string }[];
}

const allow = "svc-allow: reason: totals of all; scope: one number; owner: data team; test: tests/tasks.test.ts";

const defaults: Record<string, string> = {
  "package.json": '{ "type": "module", "imports": { "#lib/*": "./lib/*.js" } }',
  "lib/h.js": "export const h = () => 1;\n",
  "backend/index.ts": `import { defineApi } from "@svc/core";
import * as tasks from "./tasks.ts";
const bag = (kind) => Object.fromEntries(Object.entries(tasks).filter(([, one]) =>
  kind in (one?.["~svc"] ?? {}) || (kind === "procedure" && Object.values(one ?? {})[0]?.["~svc"])));
export default defineApi({ procedures: bag("procedure"), httpRoutes: bag("route") });
`,
  "backend/tasks.ts": "export {};\n",
  "backend/runtime.ts": `
import { createCrudFactory, createSvcHttpRouteBuilders, createSvcProcedureBuilders } from "@svc/core";
export const procedure = createSvcProcedureBuilders();
export const httpRoute = createSvcHttpRouteBuilders();
export const createCrud = createCrudFactory(procedure);
`,
  "backend/schema.ts": `
import { openRls } from "@svc/core";
import { sql } from "drizzle-orm";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
export const tasks = pgTable("tasks", {
  id: serial("id").primaryKey(),
  title: text("title").notNull().default(sql\`'untitled'\`),
}, () => openRls({ read: "anyone", write: "nobody" }));
`,
  "tests/tasks.test.ts": "",
};

/** The cases in a file of `cases/`. @param nameOf the name of the procedure that `OPEN(…)` defines */
export async function readCases(file: string, nameOf = (_case: string) => "tasks.open"): Promise<Case[]> {
  const text = await readFile(join(import.meta.dirname, "cases", `${file}.txt`), "utf8");
  return text
    .split(/^=== /m)
    .slice(1)
    .map((one) => parseCase(one, nameOf));
}

function parseCase(text: string, nameOf: (name: string) => string): Case {
  const [head = "", ...lines] = text.trimEnd().split("\n");
  const [, name = "", title = ""] = /^([\w-]+): (.*)$/.exec(head) ?? [];
  const files = new Map(Object.entries(defaults));
  const expected: Case["expected"] = [];
  for (const part of `backend/tasks.ts\n${lines.join("\n")}`.split(/^--- /m)) {
    const [file = "", ...code] = part.split("\n");
    if (code.length === 0 || (code.length === 1 && !code[0])) continue;
    files.set(file, expand(code.join("\n"), nameOf(name), file.endsWith(".sql")));
    for (const [index, line] of code.entries()) {
      const [, wanted] = /(?:\/\/|--) ! (.+)$/.exec(line) ?? [];
      for (const said of wanted?.split(" & ") ?? []) expected.push({ place: `${file}:${index + 1}`, text: said });
    }
  }
  return { name, title, files, expected };
}

/** Adds no line, so positions stay the same. */
function expand(code: string, name: string, isSql: boolean): string {
  const full = code
    .replace("OPEN(", `export const open = procedure.query.name("${name}").allowAnonymous().handler(`)
    .replaceAll("/* ALLOW */", `/* ${allow} */`)
    .replaceAll("NAME", name);
  const needs = !isSql && /\bprocedure\b/.test(full) && !/\bprocedure\b[^"]*from "|const procedure =/.test(full);
  return needs && !full.includes("runtime.ts") ? `${full}\nimport { procedure } from "./runtime.ts";` : full;
}

/** Packages that the cases import, in a folder where they are found. */
export async function writePackages(folder: string): Promise<void> {
  for (const name of ["some-package", "postgres"]) {
    const path = join(folder, "node_modules", name);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    const functions = ["run", "crud", "rateLimit"].map((one) => `export const ${one} = () => () => 1;\n`);
    const reach = `export const reach = (context, key) => context[key].select();
export const handlerOf = (start) => ({ context }) => reach(context, \`\${start}Db\`);\n`;
    await writeFile(join(path, "index.js"), `${functions.join("")}${reach}export default () => () => 1;\n`);
  }
}

/** Writes a case into a separate folder. */
export async function writeCase(folder: string, { name, files }: Case): Promise<string> {
  const root = join(folder, name);
  for (const [file, text] of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  return root;
}

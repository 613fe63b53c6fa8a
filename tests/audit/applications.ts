/**
 * Small applications as text files: the first line says what the case is, `--- path` begins a file, and a comment
 * `! text` ends a line where a finding with that text is expected. What a case leaves out, `defaults` fills in.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { auditApplication, type Finding } from "../../src/audit/audit.ts";

export interface Case {
  name: string;
  title: string;
  files: ReadonlyMap<string, string>;
  /** `backend/tasks.ts:3` and the texts expected there. */
  expected: { place: string; text: string }[];
}

const defaults: Record<string, string> = {
  "backend/index.ts": 'import "./tasks.ts";\n',
  "backend/tasks.ts": "export {};\n",
  "backend/runtime.ts": `
import { createCrudFactory, createSvcHttpRouteBuilders, createSvcProcedureBuilders } from "@svc/core";
export const procedure = createSvcProcedureBuilders();
export const httpRoute = createSvcHttpRouteBuilders();
export const createCrud = createCrudFactory(procedure);
`,
  "backend/schema.ts": `
import { sql } from "drizzle-orm";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
export const tasks = pgTable("tasks", {
  id: serial("id").primaryKey(),
  title: text("title").notNull().default(sql\`'untitled'\`),
});
`,
  "tests/tasks.test.ts": "",
};

/** The cases in a folder of `fixtures/`, by name. */
export async function readCases(folder: string): Promise<Case[]> {
  const path = join(import.meta.dirname, "fixtures", folder);
  const names = (await readdir(path)).toSorted();
  return Promise.all(
    names.map(async (name) => parseCase(name.replace(/\.txt$/, ""), await readFile(join(path, name), "utf8"))),
  );
}

export function parseCase(name: string, text: string): Case {
  const [head = "", ...parts] = text.split(/^--- /m);
  const files = new Map(Object.entries(defaults));
  const expected: Case["expected"] = [];
  for (const part of parts) {
    const [file = "", ...lines] = part.split("\n");
    files.set(file, lines.join("\n"));
    for (const [index, line] of lines.entries()) {
      const [, wanted] = /(?:\/\/|--) ! (.+)$/.exec(line) ?? [];
      for (const said of wanted?.split(" & ") ?? []) expected.push({ place: `${file}:${index + 1}`, text: said });
    }
  }
  return { name, title: head.trim().replace(/^\/\/ /, ""), files, expected };
}

/** Writes a case into a folder of its own and audits it. */
export async function auditCase(folder: string, { name, files }: Case): Promise<Finding[]> {
  const root = join(folder, name);
  for (const [file, text] of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  return auditApplication({
    root,
    rootDir: join(root, "backend"),
    schemaFiles: [join(root, "backend/schema.ts")],
  });
}

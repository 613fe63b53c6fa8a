/** An application in which a test makes a mistake, and `svc` in its folder. */
import { rename, rm } from "node:fs/promises";
import { afterEach, beforeEach, expect } from "vitest";
import { applicationFolder, writeFiles } from "../support/application-folder.ts";
import { runHere } from "../support/cli.ts";
import type { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

/** The files of the application without a mistake. */
export const good = {
  "backend/schema.ts": `
import { ownerRls } from "@svc/core";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
export const notes = pgTable("notes", { id: serial("id").primaryKey(), userId: text("user_id").notNull() },
  (t) => ownerRls(t.userId));`,
  "backend/runtime.ts": `
import { createCrudFactory, createSvcProcedureBuilders } from "@svc/core";
export const procedure = createSvcProcedureBuilders();
export const createCrud = createCrudFactory(procedure);`,
  "backend/index.ts": `
import { defineApi } from "@svc/core";
import { createCrud } from "./runtime.ts";
import { notes } from "./schema.ts";
export default defineApi({ procedures: { notes: createCrud(notes) } });`,
};

export interface Ended {
  code: number | string | null;
  output: string;
}

/** For the tests of a file: a new folder before each of them. */
export function mistakenApp(db: Database) {
  const app = { folder: "", write, svc, move, same };
  beforeEach(async () => {
    app.folder = await applicationFolder(good);
  });
  afterEach(() => rm(app.folder, { recursive: true, force: true }));

  function write(files: Record<string, string>): Promise<void> {
    return writeFiles(app.folder, files);
  }

  /** Runs `svc` in the folder and in this process. @param env overrides a working DATABASE_URL */
  async function svc(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    const { code, text } = await runHere(args, { PORT: "0", ...db.environment, ...env }, app.folder);
    return { code, output: text };
  }

  /** Moves the folder. Node keeps modules by their paths, so the next command loads those that have changed. */
  async function move(): Promise<void> {
    const before = app.folder;
    app.folder = `${before}-moved`;
    await rename(before, app.folder);
  }

  /** Without what differs between machines and runs. */
  function same(text: string): string {
    return text
      .replaceAll(`${app.folder}/`, "")
      .replaceAll(app.folder, "the folder")
      .replaceAll(root, "…")
      .replace(/(localhost|127\.0\.0\.1|[Pp]ort|PORT=|process)([: ]?)\d+/g, "$1$2N")
      .replace(/taken by .*?process/g, "taken by a process")
      .replace(/kill \d+/g, "kill N")
      .replace(/^(PostgreSQL \d|DATABASE_URL names).*\n\n?/m, "")
      .replace(/^.* …\n\n?/gm, "") // is said of work that takes longer than a second
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME")
      .replace(/(lacks|listed:) \d+/g, "$1 N")
      .replace(/\d+ of the platform/g, "N of the platform")
      .trim();
  }
  return app;
}

/** An explained mistake: exit code 1, every part of the message, and none of our stack frames. */
export function expectExplained({ code, output }: Ended, ...parts: (string | RegExp)[]): void {
  for (const part of parts) expect(output).toMatch(part);
  expect(output).not.toMatch(/^\s+at /m);
  expect(code).toBe(1);
}

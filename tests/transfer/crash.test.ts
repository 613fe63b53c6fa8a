// If this file fails, an import whose process is killed stops, loses rows, or writes rows twice.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { dies } from "../support/worker.ts";
import { entriesSql, procedures, upload } from "./entries.ts";

const db = database();
beforeAll(() => db.sql(entriesSql));
const running = service(db, apiWith({ procedures: { ...procedures, upload } }));

/** Lets a worker live until it kills itself, or until the run has completed. @returns whether it killed itself */
const lifetime = (run: string, where: string, at: number) =>
  dies(db, "import-child.ts", [where, String(at)], async () => (await statusOf(run)) === "completed");

const statusOf = async (run: string) =>
  (await db.sql("select status from svc.workflow_runs where id = $1", [run]))[0]?.status;
const count = async () => Number((await db.sql("select count(*) from entries"))[0]?.count);

test("an import that is killed before and behind the commit of a batch writes each row once", async () => {
  const ann: User = await running.signUp("ann");
  // Without a key of the user's own a row that is written twice shows: slugs are unique, so each would be refused.
  const lines = Array.from({ length: 4_500 }, (_, at) => `s${at},${at % 1_000 === 7 ? 5_000 : 1}\n`);
  const file = Buffer.from(`slug,size\n${lines.join("")}`).toString("base64");
  const storageId = (await running.mutate(ann, "upload", { bytes: file })).body.json;
  const { body } = await running.mutate(ann, "entries.import", { storageId, format: "csv" });
  const run: string = body.json.id;

  // The first record_step is that of the opened file.
  expect(await lifetime(run, "before", 2)).toBe(true);
  expect(await count()).toBe(0);
  expect(await lifetime(run, "behind", 2)).toBe(true);
  expect(await count()).toBe(999);
  expect(await lifetime(run, "before", 3)).toBe(true);
  expect(await count()).toBe(2_997);
  expect(await lifetime(run, "", 0)).toBe(false);
  const { result } = (await running.query(ann, "workflows.get", { id: run })).body.json;
  expect(result).toMatchObject({ written: 4_495, refused: 5, complete: true });
  expect(await count()).toBe(4_495);
});

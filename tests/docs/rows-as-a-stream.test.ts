// If this file fails, a copy of the documentation's export loses rows, or sends other users' rows.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, TestService } from "../support/service.ts";
import { snippets } from "./markdown.ts";

const db = database();
// Inside the project, where @svc/core resolves.
const folder = join(root, ".svc", `rows-${process.pid}`);
let svc: TestService;
beforeAll(async () => {
  const snippet = (await snippets()).find(({ place, text }) => /http-routes/.test(place) && text.includes("notes.csv"));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "routes.ts"), snippet?.text ?? "");
  const { exported } = await import(pathToFileURL(join(folder, "routes.ts")).href);
  svc = new TestService(db, apiWith({ httpRoutes: { exported } }), {});
  await svc.start();
});
afterAll(async () => {
  await svc?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the export of the documentation has every row of the caller, in order, and of nobody else", async () => {
  const [ann, bob] = await Promise.all([svc.signUp("ann"), svc.signUp("bob")]);
  const insert = "insert into notes (user_id, title) select $1, case when n = 1 then '=1+1' else 'a \"' || n end";
  for (const { id } of [ann, bob]) await db.sql(`${insert} from generate_series(1, 1200) as n`, [id]);
  const headers = { authorization: `Bearer ${ann.token}` };
  const { body, headers: sent } = await svc.fetch("/api/notes.csv", { headers });
  expect(sent.get("content-disposition")).toContain("notes.csv");
  const rows = await db.sql("select id, title from notes where user_id = $1 order by id", [ann.id]);
  const lines = rows.map(({ id, title }, at) => `${id},"${at === 0 ? "'=1+1" : title.replace('"', '""')}"`);
  expect(body.split("\r\n")).toEqual(["id,title", ...lines, ""]);
});

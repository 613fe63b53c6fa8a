// If this file fails, a caller who asks for ever new lists fills the memory of a process with their statements, or a list asks
// the database for its statement each time.
import { afterAll, beforeAll, expect, test } from "vitest";
import { callPrepared } from "../../src/crud/prepared-read.ts";
import { listShape } from "../../src/crud/read-shape.ts";
import { identityOfUser } from "../../src/postgres/identity.ts";
import type { OnePool } from "../../src/postgres/pools.ts";
import { open } from "../postgres/shared-reader.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { blogSql, procedures } from "./blog.ts";

const db = database();
beforeAll(() => db.sql(blogSql));
const api = apiWith({ procedures });
service(db, api);
let one: OnePool;
beforeAll(() => {
  one = open(db.url("request"));
});
afterAll(() => one.close());

const articles = api["~svc"].crud.find(({ prefix }) => prefix === "articles");
const shape = articles && listShape(articles, { search: "none" });

/** Asks for the list as one of another shape. @returns how many statements it took */
async function ask(key: string, user: string | null = "ann"): Promise<number> {
  let statements = 0;
  const count = () => void statements++;
  one.pool.on("acquire", count);
  const fail = () => Promise.reject(new Error(`The list ${key} was not prepared.`));
  if (!shape) throw new Error("The list has no shape.");
  try {
    const json = await callPrepared(one.pool, identityOfUser(user), { ...shape, key }, fail);
    expect(JSON.parse(json ?? "")).toMatchObject({ data: [] });
    return statements;
  } finally {
    one.pool.off("acquire", count);
  }
}

test("the statement of a list is asked for once for each role", async () => {
  expect([await ask("usual"), await ask("usual"), await ask("usual")]).toEqual([2, 1, 1]);
  expect([await ask("usual", null), await ask("usual", null), await ask("usual", "bob")]).toEqual([2, 1, 1]);
});

test("a statement that could not be written is asked for again", async () => {
  await db.sql("alter function svc_crud.articles_resource() rename to away");
  await expect(ask("late")).rejects.toThrow("The list late was not prepared.");
  await db.sql("alter function svc_crud.away() rename to articles_resource");
  expect([await ask("late"), await ask("late")]).toEqual([2, 1]);
});

test("the statements of a thousand lists are kept, the latest", async () => {
  await ask("first");
  for (let number = 0; number < 999; number++) await ask(`${number}`);
  expect(await ask("first")).toBe(1);
  expect(await ask("last")).toBe(2);
  expect(await ask("first")).toBe(2);
});

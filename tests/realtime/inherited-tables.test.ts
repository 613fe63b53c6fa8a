// If this file fails, an application with tables that inherit from each other, such as one that svc db pull has begun, cannot migrate.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const publish = async (...tables: string[]) => {
  await db.sql("select svc_private.publish_tables($1)", [
    JSON.stringify(tables.map((table) => ({ table, identity: "full" }))),
  ]);
  const published = await db.sql("select tablename from pg_publication_tables where pubname = 'svc' order by 1");
  return published.map(({ tablename }) => tablename);
};

test("A table and the ones that inherit from it are followed as they are declared, in any order", async () => {
  await db.sql(
    "create table animals (id int primary key); create table cats () inherits (animals); create table dogs () inherits (animals)",
  );
  expect(await publish("public.animals", "public.cats")).toEqual(["animals", "cats"]);
  expect(await publish("public.cats")).toEqual(["cats"]);
  expect(await publish("public.dogs", "public.animals")).toEqual(["animals", "dogs"]);
});

// If this file fails, calls that wait for a migration answer 200 without the rows of a table that it rewrites.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { copiedApplication } from "../support/application-folder.ts";
import { svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database("platform");
const app = copiedApplication(db, "tests/fixture");

let last = 1000;
async function migrate(text: string, ...args: string[]) {
  const path = join(app.folder, `migrations/${++last}_next.sql`);
  await writeFile(path, text);
  const ended = await svcHere(db, app.folder, ["migrate", ...args], { NODE_ENV: "production" });
  if (ended.code !== 0) await rm(path);
  return ended;
}

async function connect(application_name: string): Promise<void> {
  const client = new pg.Client({ connectionString: db.url("request"), application_name });
  await client.connect();
  onTestFinished(() => client.end());
}

const typeOfId = async () =>
  (
    await db.sql(
      "select atttypid::regtype::text as it from pg_attribute where attrelid = 'few'::regclass and attname = 'id'",
    )
  )[0]?.it;

beforeAll(() =>
  migrate(
    "create table few (id int, at varchar(9) default 'a'); insert into few values (1); create table none (id int); create table \"full\" as select 1 as id;",
  ),
);

test("a rewritten table is refused while processes serve, with its name, and nothing is changed", async () => {
  await connect("svc request");
  const { code, text } = await migrate("alter table few alter id type bigint");
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(
      /migrations\/\d+_next.sql rewrites few while processes serve \(svc request\): .* Nothing was changed.\n {2}Stop the processes, .*--allow-rewrites/,
    ),
  ]);
  expect(await typeOfId()).toBe("integer");
});

test.for([
  ["mine", "mine"],
  ["", "svc_request"],
] as const)("processes serve whose URL gives their sessions the name %j", async ([name, told]) => {
  await connect(name);
  expect(await migrate("alter table few alter id type bigint")).toMatchObject({
    code: 1,
    text: expect.stringContaining(`rewrites few while processes serve (${told})`),
  });
});

test("what rewrites nothing, has no rows or is emptied is applied", async () => {
  await connect("svc worker list");
  const { code, text } = await migrate(`
    alter table few alter at type varchar(20), add column more int default 1;
    alter table none alter id type bigint;
    create table filled as select 1 as id;
    alter table filled alter id type bigint;
    alter table "full" alter id type bigint;
    truncate "full";`);
  expect(code, text).toBe(0);
});

test("it is applied where it is allowed", async () => {
  await connect("svc worker list");
  expect(await migrate("alter table few alter id type bigint", "--allow-rewrites")).toMatchObject({ code: 0 });
  expect(await typeOfId()).toBe("bigint");
});

test("it is applied where only commands of svc are connected", async () => {
  await connect("svc db lint");
  expect(await migrate("alter table few alter id type numeric")).toMatchObject({ code: 0 });
  expect(await typeOfId()).toBe("numeric");
});

// If this file fails, one row makes a whole import fail at its end, or a failure of the server is reported as a refused row.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
beforeAll(() =>
  db.sql(`
    create table parts (n integer primary key, whole integer references parts deferrable initially deferred);
    create function svc_crud.parts_create(data jsonb) returns integer language plpgsql as $$
    begin
      if data ? 'raises' then
        raise exception 'of the test' using errcode = data ->> 'raises';
      end if;
      insert into public.parts values ((data ->> 'n')::integer, (data ->> 'whole')::integer);
      return 1;
    end $$`),
);

const imported = async (...rows: object[]) =>
  (await db.sql("select svc.import_rows('parts_create', $1) as it", [JSON.stringify(rows.map((row) => [row]))]))[0]?.it;

test("a deferred constraint refuses its row, and not the import at its end", async () => {
  expect(await imported({ n: 1 }, { n: 2, whole: 9 }, { n: 3, whole: 1 })).toMatchObject({
    written: 2,
    refused: [{ index: 1, state: "23503" }],
  });
  expect(await db.sql("select n from parts order by n")).toEqual([{ n: 1 }, { n: 3 }]);
});

test.for(["40P01", "40001", "53200", "57014"])("what no row is to blame for ends the batch: %s", async (raises) => {
  await expect(imported({ n: 10 }, { raises })).rejects.toMatchObject({ code: raises });
  expect(await db.sql("select from parts where n = 10")).toEqual([]);
});

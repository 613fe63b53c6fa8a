// If this file fails, `svc … | head` ends with a stack trace, or a command that follows something outlives its reader.
import { expect, test } from "vitest";
import { fixture, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

/** Closes the command's standard output after its first piece, as `head` does. */
async function behindHead(args: readonly string[]) {
  const { child, ended } = svc(db, fixture, args);
  child.stdout?.once("data", () => child.stdout?.destroy());
  const { code, error } = await ended;
  return { code, error };
}

/** No stack, and no error. */
const inOrder = { code: 0, error: expect.stringMatching(/^DATABASE_URL names a PostgreSQL [^\n]*\n$/) };

test("a command whose reader has ended ends in order", async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test');
     insert into notes (user_id, title) select 'ann', repeat('long ', 200) || n from generate_series(1, 5000) as n`,
  );
  expect(await behindHead(["data", "export", "notes", "--as", "ann"])).toEqual(inOrder);
});

test("a command that follows something ends with its reader", async () => {
  const add = () => db.sql("select graphile_worker.add_job('procedure', '{}', run_at => now() + interval '1 day')");
  const adding = setInterval(() => void add(), 300);
  try {
    expect(await behindHead(["jobs", "tail"])).toEqual(inOrder);
  } finally {
    clearInterval(adding);
  }
});

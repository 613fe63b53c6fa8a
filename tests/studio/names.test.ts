// If this file fails, Studio names users and rows by ids that say nothing to an operator, or shows a viewer's row to another.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);
beforeAll(() =>
  db.sql(`insert into auth."user" (id, name, email) values
    ('ann', 'Ann', 'ann@example.com'), ('ben', 'Ben', 'ben@example.com'), ('ann@example.com', 'Cy', 'cy@example.com')`),
);

test("addresses are those of the users with these ids", async () => {
  const of = (...ids: string[]) => opened.ask("addresses", { ids });
  expect(await of("ben", "nobody", "ann")).toEqual([
    { id: "ben", email: "ben@example.com" },
    { id: "ann", email: "ann@example.com" },
  ]);
  expect(await of("ann@example.com", "an")).toEqual([{ id: "ann@example.com", email: "cy@example.com" }]);
  expect((await opened.send("addresses", { ids: Array(1_001).fill("x") })).status).toBe(400);
});

test("a found row has the beginning of its text, of the columns that the viewer may select", async () => {
  await db.sql(
    `insert into pages (user_id, title, body, corpus, visibility) values
    ('ann', 'milk of ann', 'milk', 'default', 'private'), ('ben', $1, 'milk', 'default', 'public')`,
    [`milk ${"long ".repeat(40)}`],
  );
  const search = async (as: string | null, visibility: string) => {
    const { rows } = await opened.ask("search", { table: "public.pages", as, query: "milk", visibility });
    return rows.map(({ text }: { text: string }) => text);
  };
  expect(await search("ann", "private")).toEqual(["milk of ann"]);
  expect(await search("ben", "private")).toEqual([]);
  expect(await search(null, "public")).toEqual([`milk ${"long ".repeat(40)}`.slice(0, 80)]);
});

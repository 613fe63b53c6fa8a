// If this file fails, a caller changes or removes a row although a policy forbids it, or is refused although the
// policies allow it.
import { beforeAll, describe, expect, test } from "vitest";
import { writingDoors } from "./all-doors.ts";
import { compareWrites, isGiven, refusedAs } from "./door.ts";
import { plant, situations, writingSituations } from "./situations.ts";
import { world } from "./world.ts";

const made = world();
const { db, sql, callers, fewScopes, running } = made;
const doors = writingDoors(made);
const tables = [...new Set(doors.map(({ table }) => table))];
const copyOf = (table: string) => `door_copy_of_${table.replace(".", "_")}`;

/** The other situations hide and show rows in the same ways. */
const chosen = [
  "the platform's policies alone",
  "teams by the recipe",
  "odd rows are hidden",
  "everything is shown",
  "nothing is shown",
];

beforeAll(async () => {
  // The owner's rows are enough.
  await db.sql("delete from pages where user_id = $1", [callers[2]?.user?.id]);
  await db.sql("delete from svc.rag_sources where owner_id = $1", [callers[2]?.user?.id]);
  for (const table of tables) await db.sql(`create table ${copyOf(table)} as table ${table}`);
});

describe.for([...situations.filter(({ name }) => chosen.includes(name)), ...writingSituations])(
  "where $name",
  (situation) => {
    beforeAll(() => plant(db, situation));
    test.for(doors)("$name changes what the policies let the caller change", async (door) => {
      let changed = 0;
      for (const caller of callers) {
        changed += await compareWrites(sql, door, caller);
        // Restores removed rows.
        await db.sql(
          `insert into ${door.table} select * from ${copyOf(door.table)} where id not in (select id from ${door.table})`,
        );
      }
      if (situation.name === "nothing is shown") expect(changed).toBe(0);
      else expect(changed).toBeGreaterThan(0);
    });
    test("pages.createMany inserts what the policies let the caller insert", async () => {
      const into = "insert into pages (user_id, title, corpus, visibility)";
      for (const caller of callers) {
        for (const { corpus, visibility } of fewScopes) {
          const about = `${caller.name}, ${visibility} in ${corpus}`;
          const asRow = `${into} values (svc.current_user_id(), 'made', $1, $2) returning id`;
          const may = await sql.query(caller, asRow, [corpus, visibility]).catch(refusedAs([]));
          const row = { title: "made", corpus, visibility };
          const rows = [{ title: "made", corpus: "open" }, row];
          const answer = await running.mutate(caller.user, "pages.createMany", { rows });
          expect(isGiven(answer), about).toBe(may.length === 1);
          const removed = await sql.all("delete from pages where title = 'made' returning user_id");
          const owned = Array.from({ length: 2 * may.length }, () => ({ user_id: caller.user?.id }));
          expect(removed, about).toEqual(owned);
        }
      }
    });
  },
);

// If this file fails, a caller changes or removes a row although a policy forbids it, or is refused although the
// policies allow it.
import { beforeAll, describe, expect, test } from "vitest";
import { writingDoors } from "./all-doors.ts";
import { compareWrites, isGiven, refusedAs } from "./door.ts";
import { plant, situations, writingSituations } from "./situations.ts";
import { world } from "./world.ts";

const made = world();
const { db, sql, callers, running } = made;
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

/** The ids of each table, in the order of their insertion: an even and an odd row of each scope. */
const rowsOf = new Map<string, string[]>();
/**
 * Half of them: one row of each scope. Of two situations, or two callers, that follow each other one tries the even row
 * and the other one the odd row. `npm run fuzz` tries all.
 */
function chooseRows(table: string, turn: number): string[] {
  const rows = rowsOf.get(table) ?? [];
  if (Number(process.env.FUZZ_RUNS ?? 0) > 0) return rows;
  return rows.filter((_, at) => (at + Math.floor(at / 2) + turn) % 2 === 0);
}

beforeAll(async () => {
  // The owner's rows are enough.
  await db.sql("delete from pages where user_id = $1", [callers[2]?.user?.id]);
  await db.sql("delete from svc.rag_sources where owner_id = $1", [callers[2]?.user?.id]);
  // Runs without a corpus, a visibility and a number, of which no policy here speaks.
  await db.sql("delete from svc.workflow_runs where name = 'rag.ingest'");
  for (const table of tables) {
    const kept = await db.sql<{ id: string }>(`select id::text from ${table} order by ctid`);
    rowsOf.set(
      table,
      kept.map(({ id }) => id),
    );
    await db.sql(`create table ${copyOf(table)} as table ${table}`);
  }
});

const all = [...situations.filter(({ name }) => chosen.includes(name)), ...writingSituations];
describe.for(all)("where $name", (situation) => {
  beforeAll(() => plant(db, situation));
  test.for(doors)("$name changes what the policies let the caller change", async (door) => {
    let changed = 0;
    for (const [number, caller] of callers.entries()) {
      const rows = chooseRows(door.table, all.indexOf(situation) + number);
      changed += await compareWrites(sql, door, caller, rows);
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
    let inserted = 0;
    for (const caller of callers) {
      for (const { corpus, visibility } of made.fewScopes) {
        const about = `${caller.name}, ${visibility} in ${corpus}`;
        const asRow = `${into} values (svc.current_user_id(), 'made', $1, $2) returning id`;
        const may = await sql.query(caller, asRow, [corpus, visibility]).catch(refusedAs([]));
        // The schema has no default for the rank.
        const row = { title: "made", corpus, visibility, rank: 0 };
        const rows = [{ title: "made", corpus: "open", rank: 0 }, row];
        const answer = await running.mutate(caller.user, "pages.createMany", { rows });
        expect(isGiven(answer), about).toBe(may.length === 1);
        const removed = await sql.all("delete from pages where title = 'made' returning user_id");
        const owned = Array.from({ length: 2 * may.length }, () => ({ user_id: caller.user?.id }));
        expect(removed, about).toEqual(owned);
        inserted += removed.length;
      }
    }
    if (situation.name === "nothing is shown") expect(inserted).toBe(0);
    else expect(inserted).toBeGreaterThan(0);
  });
});

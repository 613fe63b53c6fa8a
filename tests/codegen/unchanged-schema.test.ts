// If this file fails, every save under `svc dev` waits for drizzle-kit, which compares 300 tables several times to find no change.
import { expect, test } from "vitest";
import { emptySnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import { diffTables } from "../../src/migrate/generate/schema-tables.ts";

test("drizzle-kit is not asked about steps that change nothing", async () => {
  // drizzle-kit refuses a snapshot of a version that does not exist.
  const refused = { ...(await emptySnapshot()), version: "none" } as never as Awaited<ReturnType<typeof emptySnapshot>>;
  const same = { ...structuredClone(refused), id: "another", prevId: "another" };
  expect(await diffTables(refused, same)).toMatchObject({ clear: [], change: [], drop: [] });
  const changed = { ...structuredClone(refused), sequences: { "public.one": { name: "one", schema: "public" } } };
  await expect(diffTables(refused, changed as never)).rejects.toThrow();
});

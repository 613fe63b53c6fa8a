// If this file fails, a developer cannot fill a development database, or a production database is seeded by mistake.
import { expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { mistakenApp } from "./mistaken-app.ts";

const db = database();
const app = mistakenApp(database("platform"));
const seed = (env: NodeJS.ProcessEnv = {}, ...args: string[]) => svcHere(db, fixture, ["db", "seed", ...args], env);
const rows = () =>
  db.sql(`select n.id, n.title, u.email, u.name, a.password like '%:%' as can_sign_in
            from notes n join auth."user" u on u.id = n.user_id join auth.account a on a.user_id = u.id`);
const seeded = [{ id: 1000, title: "seeded", email: "seed@example.com", name: "Seed", can_sign_in: true }];

test("a seed that fails leaves no row behind", async () => {
  const { code, error } = await seed({ SEED_FAILS: "1" });
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/seed\.ts:\d+:\d+\n.*\n.*\nThe database refused a row: .*violates foreign key.*\n.*nobody/),
  ]);
  expect(await rows()).toEqual([]);
});

test("a seed writes rows and users, and run again the same", async () => {
  for (const _ of ["first", "again"]) {
    const { code, error } = await seed();
    expect([code, error]).toEqual([0, expect.stringMatching(/Seeded by .*seed\.ts\.\n$/)]);
    expect(await rows()).toEqual(seeded);
  }
});

test("production is not seeded by mistake, and what is no seed is named", async () => {
  const production = { NODE_ENV: "production", AUTHLIB_URL: "https://app.example.com" };
  expect((await seed(production)).error).toMatch(
    /Seeding is refused: NODE_ENV is production\. Nothing was done\.\s+Pass --force/,
  );
  expect((await seed({}, "--file", "backend/none.ts")).error).toMatch(/There is no .*backend\/none\.ts\./);
  expect((await seed({}, "--file", "backend/schema.ts")).error).toMatch(
    /schema\.ts is not a seed\.\s+Write: export default/,
  );
});

test("a provider of social sign-in need not be set up where a database is seeded", async () => {
  const { svc, write } = app;
  await write({
    "backend/auth.ts": `import { defineAuth } from "@svc/core";\nexport default defineAuth({ social: { github: {} } });`,
    "backend/seed.ts": `import { defineSeed } from "@svc/core";\nexport default defineSeed(async ({ user }) => void (await user({ email: "made@example.com", password: "correct horse" })));`,
  });
  const production = { NODE_ENV: "production", AUTHLIB_URL: "https://app.example.com", AUTHLIB_SECRET: "s".repeat(32) };
  const { code, output } = await svc(["db", "seed", "--force"], production);
  expect([code, output]).toEqual([0, expect.stringContaining("Seeded by")]);
});

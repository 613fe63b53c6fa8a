// If this file fails, an application that moves from Prisma by docs/how-to/from-prisma.md loses tables, rows or users, or
// opens its rows to strangers.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hashPassword } from "better-auth/crypto";
import { afterAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { type Snippet, snippets } from "./markdown.ts";
import { serve } from "./served.ts";
import { commandsOf } from "./shell.ts";

const page = "docs/how-to/from-prisma.md";
const db = database("platform");
const old = database("template0");
// Inside the project, where @svc/core resolves.
const folder = join(root, ".svc", `from-prisma-${process.pid}`);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(file: string, text: string) {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

/** As `prisma migrate dev` writes it. */
const prisma = `
-- CreateTable
CREATE TABLE "User" ("id" TEXT NOT NULL, "email" TEXT NOT NULL, "name" TEXT, "password" TEXT NOT NULL,
  CONSTRAINT "User_pkey" PRIMARY KEY ("id"));
-- CreateTable
CREATE TABLE "Post" ("id" TEXT NOT NULL, "title" TEXT NOT NULL, "published" BOOLEAN NOT NULL DEFAULT false,
  "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "authorId" TEXT NOT NULL,
  CONSTRAINT "Post_pkey" PRIMARY KEY ("id"));
-- CreateIndex
CREATE UNIQUE INDEX "User_email_key" ON "User"("email");
-- AddForeignKey
CREATE TABLE "_prisma_migrations" (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz);
ALTER TABLE "Post" ADD CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User"("id")
  ON DELETE RESTRICT ON UPDATE CASCADE;
`;

test("tables, rows and users move, and policies decide afterwards", async () => {
  await old.sql(prisma);
  await old.sql(
    `insert into "User" values ('c1', 'Ann@example.com', 'Ann', $1), ('c2', 'bob@example.com', null, 'none')`,
    [await hashPassword("correct horse")],
  );
  await old.sql(`insert into "Post" values ('p1', 'Of Ann', true, now(), 'c1'), ('p2', 'Of Bob', false, now(), 'c2')`);

  const shown = (await snippets()).filter(({ place, file }) => place.startsWith(`${page}:`) && file);
  const [after, index] = shown as [Snippet, Snippet];
  expect(shown.map(({ file }) => file)).toEqual(["backend/schema.ts", "backend/index.ts"]);
  await mkdir(folder, { recursive: true });
  const [create, copy, users, secure] = await commandsOf(page);
  const env = {
    PRISMA_URL: old.url("admin"),
    DATABASE_URL: db.url("request"),
    DATABASE_ADMIN_URL: db.url("admin"),
    PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
  };
  for (const run of [create, copy, users]) await run?.(folder, env);
  await write("backend/schema.ts", after.text);
  await write("backend/index.ts", index.text);
  await secure?.(folder, env);

  const { service, post } = await serve(folder, db);
  try {
    const ann = (await post("/api/auth/sign-in", { email: "ann@example.com", password: "correct horse" })).body;
    expect(ann.user).toEqual({ id: "c1", email: "ann@example.com", name: "Ann" });
    const list = await post("/api/query", { name: "posts.published" });
    expect(list.body.json).toEqual([{ id: "p1", title: "Of Ann" }]);
    const own = await post("/api/query", { name: "posts.list", args: { select: ["id"] } }, ann.token);
    expect(own.body.json.data, "no draft of another author").toEqual([{ id: "p1" }]);
    const change = async (id: string) =>
      (await post("/api/mutation", { name: "posts.update", args: { id, title: "Mine" } }, ann.token)).status;
    expect([await change("p1"), await change("p2")]).toEqual([200, 404]);
    const made = await post("/api/mutation", { name: "posts.create", args: { title: "New" } }, ann.token);
    expect(made.body.json).toMatchObject({ title: "New", userId: "c1" });
    const gone = `select to_regclass('public."User"') as users, to_regclass('_prisma_migrations') as list`;
    expect(await db.sql(gone)).toEqual([{ users: null, list: null }]);
  } finally {
    await service.stop();
  }
});

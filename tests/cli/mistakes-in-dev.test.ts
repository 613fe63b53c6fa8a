// If this file fails, `svc dev` explains a mistake less well. Read the snapshots as the application's author would.
import { expect, onTestFinished, test } from "vitest";
import { ready } from "../support/application-folder.ts";
import { svc as start } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { mistakenApp } from "./mistaken-app.ts";

const db = database("platform");
const app = mistakenApp(db);

test("beside svc dev: a handler that throws, PostgreSQL's error, a filter, an internal procedure", async () => {
  await app.write({
    "backend/index.ts": `import { defineApi } from "@svc/core";
import { createCrud, procedure } from "./runtime.ts";
import { notes } from "./schema.ts";
import { avg } from "drizzle-orm";
const thrown = procedure.mutation.handler(() => {
  throw new TypeError("no such printer");
});
const refused = procedure.mutation.handler(async ({ context }) => {
  await context.db.select({ average: avg(notes.userId) }).from(notes);
});
const late = procedure.mutation.handler(({ context }) => context.scheduler.runAfter(0, "insid"));
const lost = procedure.mutation.handler(() => fetch("http://127.0.0.1:1"));
const returned = procedure.query.handler(({ context }) => context.db.select({ average: avg(notes.userId) }).from(notes));
const inside = procedure.internal.handler(() => {});
export default defineApi({ procedures: { notes: createCrud(notes), thrown, refused, late, lost, returned, inside } });`,
  });
  const command = start(db, app.folder, ["dev"], { AUTHLIB_URL: "" });
  onTestFinished(async () => {
    command.child.kill("SIGTERM");
    await command.ended;
  });
  const url = await ready(command);
  const sign = async (how: string) => {
    const answer = await fetch(`${url}/api/auth/sign-${how}/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify({ name: "Ann", email: "ann@example.com", password: "correct horse battery" }),
    });
    return answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(";")[0])
      .join("; ");
  };
  await sign("up");
  await db.sql('update auth."user" set email_verified = true');
  const cookie = await sign("in");
  const call = async (kind: string, name: string, args: object) => {
    const answer = await fetch(`${url}/api/${kind}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, cookie },
      body: JSON.stringify({ name, args }),
    });
    const { requestId: _, ...body } = (await answer.json()) as Record<string, unknown>;
    return { status: answer.status, ...body };
  };
  expect(await call("mutation", "thrown", {})).toMatchInlineSnapshot(`
    {
      "code": "INTERNAL",
      "error": "Something went wrong on our side.",
      "hint": "backend/index.ts:6:9
        throw new TypeError("no such printer");
              ^
    TypeError: no such printer",
      "status": 500,
    }
  `);
  expect(await call("mutation", "refused", {})).toMatchInlineSnapshot(`
    {
      "code": "INTERNAL",
      "error": "Something went wrong on our side.",
      "hint": "backend/index.ts:9:3
        await context.db.select({ average: avg(notes.userId) }).from(notes);
        ^
    PostgreSQL: function avg(text) does not exist (42883)
      Statement: select avg("user_id") from "notes"
      Hint: No function matches the given name and argument types. You might need to add explicit type casts.",
      "status": 500,
    }
  `);
  // It runs after the handler, whose lines its stack does not have.
  expect(await call("query", "returned", {})).toMatchObject({
    hint: expect.stringMatching(/^In returned:\nPostgreSQL: function avg\(text\) does not exist/),
  });
  expect(await call("mutation", "lost", {})).toMatchObject({
    hint: expect.stringMatching(/TypeError: fetch failed\n {2}Cause: Error: bad port$/),
  });
  expect(await call("mutation", "late", {})).toMatchInlineSnapshot(`
    {
      "code": "INTERNAL",
      "error": "Something went wrong on our side.",
      "hint": "backend/index.ts:11:76
      const late = procedure.mutation.handler(({ context }) => context.scheduler.runAfter(0, "insid"));
                                                                                 ^
    Error: ctx.scheduler: "insid" is not an internal procedure registered in defineApi. Did you mean "inside"? Only procedure.internal can be scheduled.",
      "status": 500,
    }
  `);
  expect(await call("query", "notes.list", { filters: { title: "x" } })).toMatchInlineSnapshot(`
    {
      "json": {
        "data": [],
        "total": 0,
      },
      "notice": ""notes.list" ignores the filter "title". Name it in allowedFilters of its createCrud, or leave it out.",
      "status": 200,
    }
  `);
  expect(await call("mutation", "inside", {})).toMatchInlineSnapshot(`
    {
      "code": "NOT_FOUND",
      "error": "There is no mutation of that name.",
      "hint": "inside is internal: only the scheduler, crons and workflows run it. For clients, define a query or mutation.",
      "status": 404,
    }
  `);
});

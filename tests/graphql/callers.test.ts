/**
 * Callers of GraphQL: the rules of calls by name for credentials, cookies, revocation and the single transaction of a
 * request.
 */
import { createCrudFactory, defineApi } from "@svc/core";
import { beforeAll, expect, test } from "vitest";
import { crud, procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const createCrud = createCrudFactory(procedure);
const { notes, openNotes, articles, titles, flags, guestbook, ...others } = crud;
const api = defineApi({
  procedures: {
    titles, // the first resource of articles: two columns of them
    openNotes, // notes for callers without a session, whom the policies then have to stop
    notes,
    articles,
    flags: createCrud(schema.flags, { softDelete: { field: "gone" }, graphql: false }),
    guestbook: createCrud(schema.guestbook, {
      allowAnonymous: true,
      methods: ["list", "create"],
      hooks: {
        beforeCreate(data) {
          if (data.message === "throw") throw new Error("nobody's business");
          return data;
        },
      },
    }),
    ...others,
  },
});
const graphql = {
  enabled: true,
  introspection: false,
  ruru: false,
  maxDepth: 12,
  maxFields: 400,
  maxAliases: 30,
  maxCost: 5000,
  statementTimeoutMs: 5_000,
};
const app = service(db, api, { graphql });
const hasty = service(db, api, { graphql: { ...graphql, statementTimeoutMs: 800 } });
const ask = asker(app);
const askHasty = asker(hasty);
let ann: User;
let ben: User;
/** Ann at the other service, whose origin her JWT is not for. */
let annThere: User;

beforeAll(async () => {
  [ann, ben] = [await app.signUp("ann"), await app.signUp("ben")];
  annThere = { ...ann, token: ann.sessionToken };
  // A relation whose rows may be listed, but not read one by one.
  await db.sql("insert into guestbook (id, message) values (0, 'of every priority')");
  await db.sql("alter table notes add foreign key (priority) references guestbook (id)");
});

test("a resource shows the columns and the operations that createCrud gives it, and none with graphql: false", async () => {
  const refusal = async (query: string) => (await ask(ann, query)).errors[0]?.message;
  expect(await refusal("{ titles { nodes { id title createdAt } } }")).toBeUndefined();
  expect(await refusal("{ titles { nodes { body } } }")).toMatch(/Cannot query field "body"/);
  expect(await refusal("{ titles(orderBy: [BODY_ASC]) { nodes { id } } }")).toMatch(/"BODY_ASC" does not exist/);
  expect(await refusal('mutation { createTitle(input: { title: "a", body: "b" }) { id } }')).toMatch(
    /"body" is not defined/,
  );
  expect(await refusal("{ flags { nodes { id } } }")).toMatch(/Cannot query field "flags"/);
  expect(await refusal("{ guestbook(id: 1) { id } }")).toMatch(/Cannot query field "guestbook"/);
  expect(await refusal("mutation { removeGuestbook(id: 1) }")).toMatch(/Cannot query field/);
  expect(await refusal("{ openNotes { nodes { guestbookByPriority { id } } } }")).toMatch(/Cannot query field/);
  expect(await refusal("{ guestbooks { nodes { openNotesByPriority { totalCount } } } }")).toBeUndefined();
  expect(
    (await ask(null, 'mutation { createGuestbook(input: { message: "hi" }) { id message } }')).data.createGuestbook
      .message,
  ).toBe("hi");
});

test("without a session the policies decide where the resource asks for none", async () => {
  await ask(ann, 'mutation { createOpenNote(input: { title: "mine" }) { id } }');
  expect((await ask(ann, "{ openNotes { totalCount } }")).data.openNotes.totalCount).toBe(1);
  const { data, errors } = await ask(null, "{ openNotes { totalCount nodes { title } } }");
  const byName = await app.query(null, "open_notes.list");
  if (byName.status === 200) expect(data.openNotes).toEqual({ totalCount: 0, nodes: [] });
  else expect(errors[0].extensions.code).toBe(byName.body.code);
});

test("a session that was ended is nobody's", async () => {
  const gone = await app.signUp("gone");
  const bearer = (token: string) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });
  const boards = (token: string) =>
    app.fetch("/api/graphql", {
      method: "POST",
      headers: bearer(token),
      body: JSON.stringify({ query: "{ boards { totalCount } }" }),
    });
  for (const token of [gone.token, gone.sessionToken]) expect((await boards(token)).body.errors).toBeUndefined();
  await app.fetch("/api/auth/sign-out", { method: "POST", headers: bearer(gone.sessionToken), body: "{}" });
  for (const token of [gone.sessionToken, gone.token]) {
    // The end of a session reaches a process within a second.
    await expect.poll(async () => (await boards(token)).body.errors?.[0].extensions.code).toBe("UNAUTHORIZED");
  }
});

test("a cookie counts for pages of listed origins alone, for queries too", async () => {
  const cookie = `authlib.session_token=${encodeURIComponent(ann.sessionToken)}`;
  const from = (origin: string | undefined) =>
    app.fetch("/api/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", cookie, ...(origin && { origin }) },
      body: JSON.stringify({ query: "{ boards { totalCount } }" }),
    });
  expect((await from(app.url)).body).toEqual({ data: { boards: { totalCount: 0 } } });
  for (const origin of ["https://evil.example", undefined]) {
    const { status, body } = await from(origin);
    expect([status, body.errors[0].extensions.code]).toEqual([403, "FORBIDDEN"]);
  }
});

test("requests that come at the same time never see each other's rows", async () => {
  const users = [ann, ben];
  await Promise.all(users.map(({ id }) => db.sql("insert into memberships (team_id, user_id) values ($1, $1)", [id])));
  const asked = Array.from({ length: 60 }, (_, turn) => users[turn % users.length] ?? null);
  const answers = await Promise.all(asked.map((user) => ask(user, "{ memberships { nodes { userId teamId } } }")));
  for (const [turn, { data }] of answers.entries()) {
    const id = asked[turn]?.id;
    expect(data.memberships.nodes).toEqual([{ userId: id, teamId: id }]);
  }
});

test("the identity of a request is out of its own reach", async () => {
  await db.sql("insert into memberships (team_id, user_id) values ('t', $1)", [ben.id]);
  // A policy that tries to change the identity for the rest of the statement.
  await db.sql(
    `create policy evil on memberships for select to svc_authenticated
       using (set_config('svc.user_id', '${ben.id}', true) is null)`,
  );
  const { data, errors } = await ask(ann, "{ memberships { nodes { userId } } }");
  expect(JSON.stringify(data)).not.toContain(ben.id);
  expect(errors[0].extensions.code).toBe("FORBIDDEN");
  await db.sql("drop policy evil on memberships");
});

test("a statement that takes too long is ended, and says so without its text", async () => {
  await db.sql("create policy slow on boards for select to svc_authenticated using ((select pg_sleep(20)) is null)");
  await db.sql("insert into boards (team_id, name) values ('t', 'n')");
  const { data, errors } = await askHasty(annThere, "{ boards { nodes { id } } }");
  expect(data.boards).toBeNull();
  expect(errors[0]).toMatchObject({ path: ["boards"], extensions: { code: "TIMEOUT", hint: expect.any(String) } });
  expect(JSON.stringify(errors)).not.toMatch(/select|canceling/i);
  await db.sql("drop policy slow on boards");
});

test("statements that take too long together are not all begun", async () => {
  await db.sql("create policy slow on boards for select to svc_authenticated using ((select pg_sleep(0.2)) is null)");
  await db.sql("insert into boards (team_id, name) values ('nobody', 'n')");
  const lists = Array.from({ length: 30 }, (_, n) => `b${n}: boards(first: ${n + 1}) { nodes { id } }`);
  const { errors } = await askHasty(annThere, `{ ${lists.join(" ")} }`);
  expect(errors.length).toBeGreaterThan(0);
  for (const { extensions } of errors) expect(extensions.code).toBe("TIMEOUT");
  await db.sql("drop policy slow on boards");
});

test("what went wrong on our side is told in the log, not to the caller", async () => {
  await db.sql("insert into memberships (team_id, user_id) values ('t', $1)", [ann.id]);
  await db.sql(
    "create policy broken on memberships for select to svc_authenticated using (1 / (length(team_id) - 1) > 0)",
  );
  const { errors } = await ask(ann, "{ memberships { nodes { id } } }");
  expect(errors[0].message).toBe("Something went wrong on our side.");
  const { requestId } = errors[0].extensions;
  await expect.poll(() => app.logged.filter((line) => line.includes(requestId)).join("")).toContain('"code":"22012"');
  await db.sql("drop policy broken on memberships");
  const thrown = await ask(ann, 'mutation { createGuestbook(input: { message: "throw" }) { id } }');
  expect(thrown.errors[0].message).toBe("Something went wrong on our side.");
  expect(JSON.stringify(thrown.errors)).not.toContain("business");
});

test("where introspection is off, neither it nor a misspelt name tells what is there", async () => {
  for (const query of ["{ __schema { types { name } } }", '{ __type(name: "Board") { name } }']) {
    expect((await ask(null, query)).errors[0].message).toMatch(/introspection/i);
  }
  const { errors } = await ask(null, "{ boardz { nodes { id } } }");
  expect(errors[0].message).toBe('Cannot query field "boardz" on type "Query".');
  expect((await app.fetch("/api/graphql")).status).toBe(405);
});

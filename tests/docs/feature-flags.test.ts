// If this file fails, an application built as in docs/how-to/feature-flags.md shows a feature to the wrong people, changes its mind
// about a user, or keeps open pages as they were.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { documented } from "./documented.ts";

const { db, folder, url, post, person, call, lint } = documented("docs/how-to/feature-flags.md");

type Person = Awaited<ReturnType<typeof person>>;

const write = async ({ token }: Person, name: string, args: object) => {
  const { status, body } = await call("mutation", token, name, args);
  expect({ name, status, error: body.error }).toEqual({ name, status: 200, error: undefined });
  return body.json;
};
const staff = async (name: string) => {
  const one = await person(name);
  await db.sql("insert into staff values ($1)", [one.user.id]);
  return one;
};
const isOn = async ({ token }: Person, key: string) => {
  const { body } = await call("query", token, "my_flags.list");
  return body.json.data.find(({ id }: { id: string }) => id === key)?.on;
};

test("the user counts first, then an organization, then the percentage; a handler refuses who has it off", async () => {
  const [ann, bob, cat] = [await staff("ann"), await person("bob"), await person("cat")];
  const { id } = await write(ann, "flags.create", { key: "new-editor", percent: 0 });
  expect(await isOn(bob, "new-editor")).toBe(false);
  expect((await call("mutation", bob.token, "rewrite")).body).toMatchObject({ code: "FORBIDDEN" });

  await write(ann, "flags.update", { id, percent: 100 });
  expect([await isOn(ann, "new-editor"), await isOn(bob, "new-editor")]).toEqual([true, true]);
  expect(await write(bob, "rewrite", {})).toBe("rewritten");

  const org = await write(bob, "organizations.create", { name: "Acme" });
  const ofOrg = (on: boolean) =>
    write(ann, "org_flags.upsert", { by: ["flag", "orgId"], row: { flag: "new-editor", orgId: org.id, on } });
  await ofOrg(false);
  expect([await isOn(bob, "new-editor"), await isOn(cat, "new-editor")]).toEqual([false, true]);
  await write(ann, "flags.update", { id, percent: 0 });
  await ofOrg(true);
  expect([await isOn(bob, "new-editor"), await isOn(cat, "new-editor")]).toEqual([true, false]);

  const row = { flag: "new-editor", person: bob.user.id, on: false };
  await write(ann, "user_flags.upsert", { by: ["flag", "person"], row });
  // Staff read this row of bob's, and it says nothing about them.
  expect([await isOn(bob, "new-editor"), await isOn(ann, "new-editor")]).toEqual([false, false]);
  expect((await call("mutation", bob.token, "rewrite")).status).toBe(403);
});

test("a percentage is about so many users, the same again and again, and a larger one keeps the first", async () => {
  const on = (flag: string, percent: number) =>
    db
      .sql<{ n: number }>("select n from generate_series(1, 10000) n where public.bucket($1, n::text) < $2", [
        flag,
        percent,
      ])
      .then((rows) => new Set(rows.map(({ n }) => n)));
  const [ten, twenty, other] = [await on("a", 10), await on("a", 20), await on("b", 10)];
  expect(ten.size).toBeGreaterThan(850);
  expect(ten.size).toBeLessThan(1150);
  expect([...ten].filter((n) => !twenty.has(n))).toEqual([]);
  expect([...ten].filter((n) => other.has(n)).length).toBeLessThan(200);
  expect([(await on("a", 0)).size, (await on("a", 100)).size]).toEqual([0, 10_000]);
  // As an earlier version of PostgreSQL, or another machine, would say.
  expect(
    await db.sql("select public.bucket('new-editor', 'ann') as a, public.bucket('new-editor', 'bob') as b"),
  ).toEqual([{ a: bucket("new-editor", "ann"), b: bucket("new-editor", "bob") }]);
});

test("nobody but staff changes flags, or reads what is said of others", async () => {
  const [eve, fay] = [await staff("eve"), await person("fay")];
  const { id } = await write(eve, "flags.create", { key: "beta", percent: 5 });
  const row = { flag: "beta", person: eve.user.id, on: true };
  const made = await write(eve, "user_flags.create", row);
  for (const [name, args, status] of [
    ["flags.create", { key: "mine", percent: 100 }, 403],
    ["flags.update", { id, percent: 100 }, 404],
    ["flags.remove", { id }, 404],
    ["user_flags.create", { ...row, person: fay.user.id }, 403],
    ["user_flags.update", { id: made.id, on: false }, 404],
  ] as const)
    expect([name, (await call("mutation", fay.token, name, args)).status]).toEqual([name, status]);
  expect((await call("query", fay.token, "user_flags.list")).body.json.data).toEqual([]);
  expect((await call("mutation", eve.token, "flags.update", { id, percent: 101 })).status).toBe(400);
  expect((await post("/api/query", { name: "my_flags.list", args: {} })).status).toBe(401);
});

test("a change reaches pages that are open", async () => {
  const [gil, hal] = [await staff("gil"), await person("hal")];
  const { id } = await write(gil, "flags.create", { key: "live", percent: 0 });
  const { api } = await import(join(folder, "web/svc/api.ts"));
  const auth = createAuthClient(url());
  await auth.signIn("hal@example.com", "correct horse");
  const client = createSvcClient({ api, baseUrl: url(), auth, WebSocket: WebSocket as never });
  let shown: boolean | undefined;
  const watch = (operation: never, args: object) =>
    client.watch(operation, args, (page: unknown) => {
      const { data } = page as { data: { id: string; on: boolean }[] };
      shown = data.find((flag) => flag.id === "live")?.on;
    });
  const end = watch(api.my_flags.list as never, {});
  const shows = (on: boolean) => expect.poll(() => shown, { timeout: 10_000 }).toBe(on);
  try {
    await shows(false);
    await write(gil, "flags.update", { id, percent: 100 });
    await shows(true);
    const row = { flag: "live", person: hal.user.id, on: false };
    const { id: override } = await write(gil, "user_flags.create", row);
    await shows(false);
    await write(gil, "user_flags.remove", { id: override });
    await shows(true);
    await db.sql("update flags set percent = 0 where key = 'live'"); // as a DBA does
    await shows(false);
    const org = await write(gil, "organizations.create", { name: "Acme" });
    await write(gil, "org_flags.create", { flag: "live", orgId: org.id, on: true });
    await db.sql("insert into svc.organization_members (org_id, user_id, role) values ($1, $2, 'member')", [
      org.id,
      hal.user.id,
    ]);
    await shows(true);
  } finally {
    end();
    client.close();
  }
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});

function bucket(flag: string, user: string): number {
  return Math.floor((createHash("sha256").update(`${flag} ${user}`).digest().readUInt32BE() * 100) / 2 ** 32);
}

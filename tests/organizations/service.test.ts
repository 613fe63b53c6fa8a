// If this file fails, pages cannot work with organizations, invitations do not arrive, or pages of strangers hear of changes.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Mailbox } from "../../client/testing/src/mailbox.ts";
import { database, waitsForLock } from "../support/database.ts";
import { watch } from "../support/live.ts";
import { TestService, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";
import { until, workers } from "../support/worker.ts";
import { api, auth, install, mails, schema } from "./application.ts";

const db = database();
const running = new TestService(db, api, {}, schema, undefined, auth);
const connect = sockets(running);
const worker = workers(db, api);
beforeAll(async () => {
  await install(db);
  await running.start();
});
afterAll(() => running.stop());

async function users(...names: string[]): Promise<User[]> {
  const all = await Promise.all(names.map((name) => running.signUp(name)));
  await db.sql('update auth."user" set email_verified = true');
  // Their JWTs have ended with that change.
  return all.map((user) => ({ ...user, token: user.sessionToken }));
}

const found = async (by: User, name: string): Promise<string> =>
  (await running.mutate(by, "organizations.create", { name })).body.json.id;
const add = (orgId: string, who: User, role = "member") =>
  db.sql("insert into svc.organization_members (org_id, user_id, role) values ($1, $2, $3)", [orgId, who.id, role]);
const list = async (who: User, name: string, args: object = {}) =>
  (await running.query(who, name, args)).body.json.data;

test("an invitation is mailed by a worker, accepted by its address, and members are listed with their organization", async () => {
  const [ann, bob, eve] = (await users("ann", "bob", "eve")) as [User, User, User];
  const orgId = await found(ann, "Acme");
  const { body } = await running.mutate(ann, "organizationInvitations.create", {
    orgId,
    email: bob.email,
    role: "editor",
  });
  expect(body).toMatchObject({ json: { orgId, orgName: "Acme", email: bob.email, role: "editor", state: "pending" } });
  await worker({ app: { api, auth, schema } });
  await until(async () => mails.length === 1);
  const { id } = body.json;
  expect(mails).toEqual([
    {
      email: bob.email,
      url: `https://app.example.com/invitations?invitation=${id}`,
      organization: "Acme",
      role: "editor",
      inviter: "ann",
    },
  ]);
  const { status, body: refused } = await running.mutate(eve, "organizationInvitations.accept", { id });
  expect([status, refused.code]).toEqual([404, "NOT_FOUND"]);
  expect(await list(bob, "organizationInvitations.list")).toMatchObject([{ id, orgName: "Acme" }]);
  expect((await running.mutate(bob, "organizationInvitations.accept", { id })).body.json).toEqual({ orgId });
  expect(
    await list(bob, "organizationMembers.list", { filters: { userId: bob.id }, include: { org: true } }),
  ).toMatchObject([{ role: "editor", org: { id: orgId, name: "Acme" } }]);
  expect(await list(eve, "organizationMembers.list")).toEqual([]);

  const create = (who: User) => running.mutate(who, "invoices.create", { orgId, title: "One" });
  expect([(await create(bob)).status, (await create(eve)).status]).toEqual([200, 403]);
  expect(await list(ann, "invoices.list", { include: { org: true } })).toMatchObject([
    { title: "One", org: { name: "Acme" } },
  ]);
});

test("the mailbox of tests gets invitations", async () => {
  const [ida] = (await users("ida")) as [User];
  const mailbox = new Mailbox();
  mailbox.replaceMailers(auth);
  const orgId = await found(ida, "Shop");
  await running.mutate(ida, "organizationInvitations.create", { orgId, email: "kim@example.com", role: "member" });
  expect(await mailbox.next("invitation", "kim@example.com")).toMatchObject({
    url: expect.stringContaining("?invitation="),
  });
});

test("GraphQL shows members their organizations, and no other table of the platform", async () => {
  const [lea, max] = (await users("lea", "max")) as [User, User];
  await found(lea, "Dock");
  await found(max, "Pier");
  const warned = vi.spyOn(console, "warn");
  const ask = async (query: string) => (await running.post("/api/graphql", { query }, lea)).body;
  expect(await ask("{ organizations { nodes { name } } organizationMembers { nodes { role name } } }")).toEqual({
    data: {
      organizations: { nodes: [{ name: "Dock" }] },
      organizationMembers: { nodes: [{ role: "owner", name: "lea" }] },
    },
  });
  const { data } = await ask("{ __schema { types { name fields { name } } } }");
  const query = data.__schema.types.find(({ name }: { name: string }) => name === "Query");
  const names = query.fields.map(({ name }: { name: string }) => name).join(" ");
  expect(names).not.toMatch(/storage|rag|workflow|ledger|transcription|delivery|operator/i);
  expect(names).toMatch(/\borganizationInvitations\b/);
  expect(warned).not.toHaveBeenCalled(); // of columns of the platform's tables, whose types GraphQL does not have
  warned.mockRestore();
});

test("answers of what the caller may not do name the reason", async () => {
  const [cat, dan] = (await users("cat", "dan")) as [User, User];
  const orgId = await found(cat, "Mill");
  await add(orgId, dan, "admin");
  const ask = async (who: User, name: string, args: object) => {
    const { status, body } = await running.mutate(who, name, args);
    return [status, body.code, body.error];
  };
  const [ofCat] = await list(dan, "organizationMembers.list", { filters: { userId: cat.id } });
  const said = 'The organization "Mill" needs an owner.';
  expect(await ask(cat, "organizations.leave", { id: orgId })).toEqual([409, "CONFLICT", said]);
  expect(await ask(cat, "organizationMembers.update", { id: ofCat.id, role: "member" })).toEqual([
    409,
    "CONFLICT",
    said,
  ]);
  expect((await ask(dan, "organizationMembers.update", { id: ofCat.id, role: "member" }))[0]).toBe(404);
  expect((await ask(dan, "organizationInvitations.create", { orgId, email: "x@example.com", role: "owner" }))[0]).toBe(
    403,
  );
  expect((await ask(dan, "organizationInvitations.create", { orgId, email: "x@example.com", role: "ower" }))[0]).toBe(
    400,
  );
  expect(await ask(dan, "organizationInvitations.create", { orgId, email: cat.email, role: "member" })).toEqual([
    409,
    "CONFLICT",
    "This address belongs to a member.",
  ]);
  expect((await ask(dan, "organizations.remove", { id: orgId }))[0]).toBe(404);
  const gone = await running.post("/api/auth/delete-user", { password: "correct horse" }, cat);
  expect([gone.status, gone.body.error]).toEqual([409, said]);
  expect((await ask(dan, "organizations.update", { id: orgId, name: " Mill Ltd " }))[0]).toBe(200);
  expect(await list(cat, "organizations.list")).toMatchObject([{ name: "Mill Ltd" }]);
  expect((await ask(dan, "organizations.leave", { id: orgId }))[0]).toBe(200);
  expect(await list(dan, "organizations.list")).toEqual([]);
});

test("an account whose deletion meets that of its organization may be deleted again, and that is no failure of ours", async () => {
  const [ian, joy] = (await users("ian", "joy")) as [User, User];
  const orgId = await found(ian, "Pond");
  await add(orgId, joy, "owner");
  const deleting = () => running.post("/api/auth/delete-user", { password: "correct horse" }, joy);
  const other = await db.connect("admin");
  await other.query("set deadlock_timeout = '1min'; begin");
  // As the deletion of the organization does: the organization first, then its members. The account comes from the other side.
  await other.query("select from svc.organizations where id = $1 for update", [orgId]);
  const answer = deleting();
  await until(async () => (await db.sql(waitsForLock)).length === 1);
  await other.query("select from svc.organization_members where user_id = $1 for update", [joy.id]);
  await other.query("rollback");
  const { status, body } = await answer;
  expect([status, body.code]).toEqual([409, "CONFLICT"]);
  expect((await deleting()).status).toBe(200);
});

const watched = ["invoices.list", "organizationMembers.list", "organizations.list", "titles"];

async function watchAll(socket: Socket, who: User): Promise<void> {
  for (const name of watched) expect((await watch(running, socket, who, name)).body.notice).toBeUndefined();
}
const heardOf = async (socket: Socket) =>
  [...new Set((await heard(socket, db)).flatMap(({ queries = [] }) => queries))].sort();

test("pages of members hear of rows, members and roles of their organizations, and others hear nothing", async () => {
  const [fay, gil, hal] = (await users("fay", "gil", "hal")) as [User, User, User];
  const [orgId, other] = [await found(fay, "Yard"), await found(hal, "Hall")];
  const page = async (who: User) => {
    const socket = await connect(who);
    await watchAll(socket, who);
    return { who, socket };
  };
  const [ofFay, ofGil, ofHal] = [await page(fay), await page(gil), await page(hal)];
  const told = async () => {
    const heard = [await heardOf(ofFay.socket), await heardOf(ofGil.socket), await heardOf(ofHal.socket)];
    for (const { who, socket } of [ofFay, ofGil, ofHal]) await watchAll(socket, who);
    for (const { socket } of [ofFay, ofGil, ofHal]) await heardOf(socket);
    return heard;
  };
  const invoice = () => db.sql("insert into invoices (org_id, title) values ($1, 'One')", [orgId]);
  const ofRows = ["invoices.list", "titles"];
  await invoice();
  expect(await told()).toEqual([ofRows, [], []]);
  await add(orgId, gil);
  expect(await told()).toEqual([watched, watched, []]);
  await invoice();
  expect(await told()).toEqual([ofRows, ofRows, []]);
  await db.sql("update svc.organization_members set role = 'editor' where user_id = $1", [gil.id]);
  expect(await told()).toEqual([watched, watched, []]);
  await db.sql("update svc.organizations set name = 'New' where id = $1", [other]);
  expect(await told()).toEqual([[], [], ["organizations.list"]]);
  await db.sql("delete from svc.organization_members where user_id = $1", [gil.id]);
  expect(await told()).toEqual([watched, watched, []]);
  await invoice();
  expect(await told()).toEqual([ofRows, [], []]);
}, 60_000);

test("a member who is removed, or whose organization is deleted, hears nothing more in its channel", async () => {
  const [ira, jon] = (await users("ira", "jon")) as [User, User];
  for (const remove of [
    (orgId: string) =>
      db.sql("delete from svc.organization_members where org_id = $1 and user_id = $2", [orgId, jon.id]),
    (orgId: string) => db.sql("delete from svc.organizations where id = $1", [orgId]),
  ]) {
    const orgId = await found(ira, "Floor");
    await add(orgId, jon);
    await db.sql("insert into invoices (org_id, title) values ($1, 'One')", [orgId]);
    const key = `floor::{"orgId":"${orgId}"}`;
    const socket = await connect(jon);
    socket.send({ type: "subscribe", query: key });
    await socket.wait({ type: "subscribed", query: key });
    await running.mutate(ira, "tell", { orgId, text: "before" });
    await expect.poll(() => JSON.stringify(socket.frames)).toContain("before");
    socket.frames.length = 0;
    await remove(orgId);
    expect((await running.mutate(ira, "tell", { orgId, text: "after" })).status).toBe(200);
    const last = await socket.upTo({ type: "error", code: "FORBIDDEN", query: key });
    expect(last.filter(({ type }) => type === "query:updated")).toEqual([]);
  }
});

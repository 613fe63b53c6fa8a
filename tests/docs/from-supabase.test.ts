// If this file fails, users who move from Supabase by docs/how-to/from-supabase.md lose their rows or cannot sign in.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compare, hash } from "bcryptjs";
import { phoneNumber } from "better-auth/plugins";
import { expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { origin, startAuthServer } from "../support/auth-server.ts";
import { root } from "../support/global-setup.ts";
import { documented } from "./documented.ts";
import { commandsOf } from "./shell.ts";

const page = "docs/how-to/from-supabase.md";
const { db, folder, post, call, person } = documented(page);
const [ann, bob, eve] = [
  "2f1c7a52-5d0b-4a3e-9b1e-0a2b3c4d5e6f",
  "7b9e8c10-1111-4222-8333-444455556666",
  "9a0b1c2d-7777-4888-8999-aaaabbbbcccc",
];
/** As in docs/how-to/phone-sign-in.md, with the passwords of this page. */
const codes: string[] = [];
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    emailAndPassword: {
      ...defaults.emailAndPassword,
      enabled: true,
      password: { verify: (given) => compare(given.password, given.hash) },
    },
    plugins: [phoneNumber({ sendOTP: ({ code }) => void codes.push(code) })],
  }),
});

test("users keep their ids, passwords, Google accounts and rows", async () => {
  // Stands for Supabase: its tables with the columns that the page reads. Names differ from svc's own in schema auth.
  await db.sql(`create table auth.users (id uuid, email text, encrypted_password text, email_confirmed_at timestamptz,
    phone text, phone_confirmed_at timestamptz, created_at timestamptz, raw_user_meta_data jsonb, deleted_at timestamptz)`);
  await db.sql("create table auth.identities (user_id uuid, provider text, provider_id text)");
  const insert = "insert into auth.users values ($1, $2, $3, now(), null, null, now(), $4, $5)";
  await db.sql(insert, [ann, "Ann@example.com", await hash("correct horse", 10), { full_name: "Ann Lee" }, null]);
  await db.sql(insert, [bob, "bob@example.com", null, {}, null]);
  await db.sql(insert, [crypto.randomUUID(), null, null, {}, null]);
  await db.sql(insert, [crypto.randomUUID(), "gone@example.com", null, {}, "2026-01-01"]);
  await db.sql(
    "insert into auth.identities values ($1, 'google', '10769'), ($1, 'github', '583231'), ($1, 'email', $1)",
    [bob],
  );
  const byPhone = `insert into auth.users (id, phone, phone_confirmed_at, encrypted_password, created_at, email)
    values ($1, $2, $3, $4, now(), $5)`;
  await db.sql(byPhone, [eve, "4915112345678", "2026-01-01", await hash("battery staple", 10), null]);
  await db.sql(byPhone, [crypto.randomUUID(), "4915100000000", null, null, ""]);
  const note = "insert into public.notes (id, user_id, title) values ";
  await db.sql(`set session_replication_role = replica`); // Supabase's foreign key leads to auth.users
  await db.sql(`${note} (7, $1, 'Of Ann'), (8, $2, 'Of Bob'), (9, $3, 'Of Eve')`, [ann, bob, eve]);
  await db.sql("set session_replication_role = origin");

  await db.sql('alter table auth."user" add phone_number text unique, add phone_number_verified boolean');
  const [save, phones, read] = await commandsOf(page);
  const env = { SUPABASE_URL: db.url("admin"), DATABASE_ADMIN_URL: db.url("admin") };
  await save?.(folder, env);
  await db.sql("delete from public.notes");
  await phones?.(folder, env);
  await read?.(folder, env);

  const signedIn = await post("/api/auth/sign-in", { email: "ann@example.com", password: "correct horse" });
  expect(signedIn.body.user).toEqual({ id: ann, email: "ann@example.com", name: "Ann Lee" });
  expect((await post("/api/auth/sign-in", { email: "ann@example.com", password: "wrong horse" })).status).toBe(401);
  const { body } = await call("query", signedIn.body.token, "notes.list");
  expect(body.json.data).toMatchObject([{ id: "7", title: "Of Ann" }]);
  const created = await call("mutation", signedIn.body.token, "notes.create", { title: "New" });
  expect(created.body.json.id).toBe("10");
  expect(
    await db.sql("select user_id, provider_id, account_id from auth.account order by provider_id, user_id"),
  ).toEqual([
    { user_id: ann, provider_id: "credential", account_id: ann },
    { user_id: eve, provider_id: "credential", account_id: eve },
    { user_id: bob, provider_id: "github", account_id: "583231" },
    { user_id: bob, provider_id: "google", account_id: "10769" },
  ]);
  expect(await db.sql('select email, name from auth."user" where phone_number is null order by email')).toEqual([
    { email: "ann@example.com", name: "Ann Lee" },
    { email: "bob@example.com", name: "bob" },
  ]);

  const server = await startAuthServer(db, { definition });
  const number = { phoneNumber: "+4915112345678" };
  const open = async (path: string, body: object) =>
    (await server.post(path, body, { headers: { origin } })).body.user?.id;
  try {
    expect(await open("/sign-in/phone-number", { ...number, password: "battery staple" })).toBe(eve);
    await server.post("/phone-number/send-otp", number, { headers: { origin } });
    expect(await open("/phone-number/verify", { ...number, code: codes[0] })).toBe(eve);
  } finally {
    await server.close();
  }
  expect((await person("cleo")).token).toEqual(expect.any(String));
});

test("the statement of the page keeps a trigger from making profiles while users are read", async () => {
  const [, disable = ""] = /`(alter table auth\."user" disable trigger create_profile;)`/.exec(
    await readFile(join(root, page), "utf8"),
  ) as RegExpExecArray;
  await db.sql(`create table public.profiles (id text primary key);
    create function public.create_profile() returns trigger language plpgsql security definer set search_path = '' as
      'begin insert into public.profiles values (new.id); return null; end';
    create trigger create_profile after insert on auth."user" for each row execute function public.create_profile()`);
  const move = (id: string) =>
    db.sql(`insert into auth."user" (id, name, email) values ($1, $1, $1 || '@example.com')`, [id]);
  await db.sql(disable);
  await move("moved");
  await db.sql(disable.replace("disable", "enable"));
  await move("new");
  expect(await db.sql("select id from public.profiles")).toEqual([{ id: "new" }]);
});

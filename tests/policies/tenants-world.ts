/**
 * The world of the tests of tenants: fifty owners with 20 rows in each table, six of whom call, and callers without a
 * valid credential. `FUZZ_SEED` draws other rows and calls.
 */
import { symmetricDecrypt } from "better-auth/crypto";
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from "jose";
import type { CrudDefinition } from "../../src/contract/crud.ts";
import { random as drawn } from "../crud/random.ts";
import type { Database } from "../support/database.ts";
import { secret, type TestService, type User } from "../support/service.ts";
import { owners, rowsOf } from "./tenants-model.ts";

export const seed = Number(process.env.FUZZ_SEED ?? 20260101);

const choices = drawn(seed);
export const { below, pick } = choices;
const { uuid } = choices;
export const random = () => below(2 ** 32) / 2 ** 32;

export interface Caller {
  who: string;
  /** The user of the credential; null for an invalid one. */
  id: string | null;
  user: User | null;
}
export const callers: Caller[] = [];
export const at = (second: number) =>
  new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString().replace(".000Z", "+00:00");
export const two = (number: number) => String(number).padStart(2, "0");

/** Signs six callers up, and writes the rows of all owners to the model. */
export async function addTenants(db: Database, svc: TestService): Promise<void> {
  const users: User[] = [];
  for (let index = 0; index < 6; index++) users.push(await svc.signUp(`caller${index}`));
  owners.push(...users.map(({ id }) => id), ...Array.from({ length: 44 }, () => uuid().replaceAll("-", "")));
  const accounts = `insert into auth."user" (id, name, email) select id, 'o', id || '@example.com' from unnest($1::text[]) as id`;
  await db.sql(accounts, [owners.slice(6)]);
  const empty = { body: "", mood: null, rank: null, price: null, day: null, published: false, publishedAt: null };
  for (const [number, userId] of owners.entries()) {
    const teamId = `team${two(number % 10)}`;
    rowsOf("memberships").push({ id: 2 * number + 1, teamId, userId });
    rowsOf("memberships").push({ id: 2 * number + 2, teamId: `team${two((number * 7 + 3) % 10)}`, userId });
    for (let index = 0; index < 20; index++) {
      const id = number * 20 + index + 1;
      // Every private text names its owner or team, so that a leak is visible in any body, whatever its form.
      const text = `own${two(number)}n${two(index)}`;
      const createdAt = at(below(600)); // with ties
      const times = { createdAt, updatedAt: createdAt };
      const deletedAt = random() < 0.3 ? at(2) : null;
      const shown = { title: `public${two(number)}n${two(index)}`, priority: pick([null, 1, 2]), deletedAt };
      rowsOf("notes").push({ id, userId, title: text, done: random() < 0.5, priority: below(5), ...times });
      rowsOf("flags").push({ id: `flag-${uuid()}`, userId, label: text, gone: random() < 0.3 });
      rowsOf("codes").push({ id, userId, code: `c${id}`, note: text });
      rowsOf("boards").push({ id, teamId, name: `${teamId}n${two(number)}${two(index)}` });
      rowsOf("articles").push({ id: uuid(), userId, ...empty, ...shown, ...times });
    }
  }
  await addCallers(db, svc, users);
}

/** Tokens by the service's own key: valid ones that outlast a long run, and an expired one. */
async function addCallers(db: Database, svc: TestService, users: User[]): Promise<void> {
  const [key] = await db.sql<{ private_key: string }>("select private_key from auth.jwks");
  const data = JSON.parse(key?.private_key ?? "");
  const version = Number(data.split("$")[2]);
  const secrets = { keys: new Map([[version, secret]]), currentVersion: version };
  const privateKey = await importJWK(JSON.parse(await symmetricDecrypt({ key: secrets, data })), "EdDSA");
  const signed = ({ token }: User, lifetime: number) => {
    const iat = Math.floor(Date.now() / 1000) - 400;
    const claims = { ...decodeJwt(token), iat, exp: iat + 400 + lifetime };
    return new SignJWT(claims).setProtectedHeader(decodeProtectedHeader(token) as never).sign(privateKey as CryptoKey);
  };
  for (const [index, user] of users.entries()) {
    callers.push({ who: `caller${index}`, id: user.id, user: { ...user, token: await signed(user, 36_000) } });
  }
  const first = users[0] as User;
  // A second session: with the first one, all of the caller's tokens would end.
  const other = (await svc.post("/api/auth/sign-in", { email: first.email, password: "correct horse" })).body;
  await svc.post("/api/auth/sign-out", {}, { ...first, token: other.sessionToken });
  callers.push({ who: "anonymous", id: null, user: null });
  callers.push({ who: "expired", id: null, user: { ...first, token: await signed(first, -1) } });
  callers.push({ who: "signed out", id: null, user: { ...first, token: other.sessionToken } });
}

/** Stores the rows of the model. */
export async function storeRows(db: Database, tables: readonly CrudDefinition[]): Promise<void> {
  for (const { table, columns } of tables) {
    const rows = rowsOf(table).map((row) => Object.fromEntries(columns.map((one) => [one.name, row[one.property]])));
    const insert = `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`;
    await db.sql(insert, [JSON.stringify(rows)]);
  }
  for (const table of ["notes", "boards", "memberships", "codes"])
    await db.sql(`select setval('${table}_id_seq', 100000)`);
}

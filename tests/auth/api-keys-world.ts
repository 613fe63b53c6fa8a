/** A service with Ann, who has keys of every kind, and Bob, with a row each. */
import { afterAll, beforeAll } from "vitest";
import { hashOf, makeKey } from "../../src/kit/key-format.ts";
import { type Database, database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { TestService, type User } from "../support/service.ts";
import { api, auth, createTables, schema } from "./api-keys-application.ts";

export interface KeysWorld {
  db: Database;
  app: TestService;
  ann: User;
  /** Of Ann: without a scope, for reading, for writing, for everything; and one of Bob for everything. */
  keys: Record<"none" | "read" | "write" | "all" | "bob", User>;
}

/** Calls with a key instead of a token. */
const withKey = (user: User, key: string): User => ({ ...user, token: key, sessionToken: key });

/** Call it at the top of a test file. */
export function keysWorld(): KeysWorld {
  const db = database("platform");
  const app = new TestService(db, api, { storage: { driver: "disk", dir: bytesFolder() } }, schema, undefined, auth);
  const world = { db, app, keys: {} } as KeysWorld;
  const { keys } = world;
  const keyOf = async (user: User, scopes: string[]): Promise<User> => {
    const { status, body } = await app.post("/api/auth/api-keys", { name: scopes.join(), scopes }, user);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return withKey(user, body.key);
  };
  beforeAll(async () => {
    await createTables(db);
    await app.start();
    const [ann, bob] = [await app.signUp("ann"), await app.signUp("bob")];
    world.ann = ann;
    keys.read = await keyOf(ann, ["tickets:read"]);
    keys.write = await keyOf(ann, ["tickets:write"]);
    keys.all = await keyOf(ann, ["*"]);
    keys.bob = await keyOf(bob, ["*"]);
    // Its one scope is not declared any more.
    keys.none = withKey(ann, makeKey("acme"));
    const insert = `insert into auth.api_key (user_id, name, start, hash, scopes, expires_at)
      values ($1, 'gone', 'acme_', $2, '{gone}', now() + '1 day'::interval)`;
    await db.sql(insert, [ann.id, hashOf(keys.none.token)]);
    await db.sql("insert into tickets (user_id, title) values ($1, 'of ann'), ($2, 'of bob')", [ann.id, bob.id]);
    const diary =
      "insert into diaries (user_id, title, ticket_id) select $1, 'secret', id from tickets where user_id = $1";
    await db.sql(diary, [ann.id]);
  });
  afterAll(() => app.stop());
  return world;
}

/** Services with organizations whose programs call by keys. */
import { admin, magicLink } from "better-auth/plugins";
import { afterAll, beforeAll, expect } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { TestService, type User } from "../support/service.ts";
import { api, auth, createTables, schema } from "./service-account-application.ts";

export interface Bot {
  id: string;
  orgId: string;
  owner: User;
  keyId: string;
  /** Calls with its key. */
  calls: User;
}

/** Calls with a key instead of a token. */
export const asKey = (key: string): User => ({ id: "", email: "", token: key, sessionToken: key });

/** Scopes of most keys. */
export const everyday = ["invoices:read", "invoices:write", "files:write"];

/** Call it at the top of a test file. */
export function serviceAccountsWorld() {
  const db = database("platform");
  const links: string[] = [];
  const definition = defineAuth({
    ...auth,
    betterAuth: (defaults) => ({
      ...defaults,
      plugins: [admin(), magicLink({ sendMagicLink: ({ url }) => void links.push(url) })],
    }),
  });
  const config = { storage: { driver: "disk" as const, dir: bytesFolder() } };
  const app = new TestService(db, api, config, schema, undefined, definition);
  /** Another process's worth of caches. */
  const there = new TestService(db, api, config, schema, undefined, definition);
  beforeAll(async () => {
    await migrateAuth(db, definition);
    await createTables(db);
    await Promise.all([app.start(), there.start()]);
  });
  afterAll(() => Promise.all([app.stop(), there.stop()]));

  const made = async (by: User, name: string, args: object) => {
    const { status, body } = await app.mutate(by, name, args);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.json;
  };
  async function bot(role = "editor", scopes = everyday): Promise<Bot> {
    const owner = await app.signUp("owner");
    const { id: orgId } = await made(owner, "organizations.create", { name: "Acme" });
    const { id } = await made(owner, "serviceAccounts.create", { orgId, name: "Importer", role });
    const { id: keyId, key } = await made(owner, "serviceAccountKeys.create", {
      serviceAccountId: id,
      name: "CI",
      scopes,
    });
    return { id, orgId, owner, keyId, calls: asKey(key) };
  }
  return { db, app, there, definition, links, made, bot };
}

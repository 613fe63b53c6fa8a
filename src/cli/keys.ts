/**
 * `svc keys`: lists the API keys of users and service accounts, and revokes them.
 * Next hop: `sql/studio/list_all_api_keys.sql`, `sql/studio/act_revoke_api_keys.sql`.
 */
import { DefinitionError } from "../kit/definition-error.ts";
import { defineCommand } from "./define.ts";
import { findUser, resultOf, rowsOf, systemCommand } from "./inspect.ts";
import { limit, optionalWord, text } from "./options.ts";
import { conclude, printRows } from "./output.ts";

interface Key {
  id: string;
  /** Of a service account: its name and that of its organization. */
  email: string;
  name: string;
  start: string;
  scopes: string[];
  expires_at: Date;
  last_used_at: Date | null;
}

const list = systemCommand({
  description: "List API keys, the newest first. The keys themselves are stored nowhere.",
  args: { user: text("Only of the user with this id or address. (Default: all)"), limit },
  run: async (pool, { user, limit }) => {
    if (user !== undefined) await findUser(pool, user, "--user");
    printRows(await rowsOf<Key>(pool, "list_all_api_keys", user, limit), {
      id: "id",
      user: "email",
      name: "name",
      key: ({ start }) => `${start}…`,
      scopes: ({ scopes }) => scopes.join(" "),
      "last used (UTC)": ({ last_used_at }) => last_used_at ?? "never",
      "expires (UTC)": "expires_at",
    });
  },
});

const revoke = systemCommand({
  description: "Revoke an API key, or all of a user. Calls, sockets and streams by it end within a second.",
  args: {
    id: optionalWord("The key's id, as svc keys list shows it. (Default: --user names the keys)"),
    user: text("Only without an id: all keys of the user with this id or address. (Default: one key)"),
  },
  check: ({ id, user }) => {
    if ((id === undefined) === (user === undefined)) {
      throw new DefinitionError("Name the id of a key, or a user.", { hint: "svc keys revoke ID, or --user ADDRESS" });
    }
  },
  run: async (pool, { id, user }) => {
    if (user !== undefined) await findUser(pool, user, "--user");
    const revoked = await resultOf<number>(pool, "act_revoke_api_keys", id, user);
    if (revoked === 0) throw new DefinitionError("There is no such API key.", { hint: "svc keys list shows them." });
    conclude({ revoked }, `Revoked ${revoked} API ${revoked === 1 ? "key" : "keys"}.`);
  },
});

export const command = defineCommand({ subCommands: { list, revoke } });

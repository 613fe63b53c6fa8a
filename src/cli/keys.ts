/**
 * `svc keys`: lists the API keys of users and service accounts, and revokes them.
 * Next hop: `sql/studio/list_all_api_keys.sql`, `sql/studio/act_revoke_api_keys.sql`.
 */
import { DefinitionError } from "../kit/definition-error.ts";
import { cwdArgument } from "./command.ts";
import { defineCommand } from "./define.ts";
import { findUser, withSystem } from "./inspect.ts";
import { limitArgument, wholeNumber } from "./options.ts";
import { conclude, print } from "./output.ts";
import { table, time } from "./table.ts";

interface Key {
  id: string;
  user_id: string;
  /** Of a service account: its name and that of its organization. */
  email: string;
  name: string;
  start: string;
  scopes: string[];
  created_at: Date;
  expires_at: Date;
  last_used_at: Date | null;
}

const list = defineCommand({
  description: "List API keys, the newest first. The keys themselves are stored nowhere.",
  args: {
    ...cwdArgument,
    user: { type: "string", description: "Only of the user with this id or address. (Default: all)" },
    ...limitArgument,
  },
  run: async ({ args }) => {
    const limit = wholeNumber("limit", args.limit);
    await withSystem(args.cwd, async (pool) => {
      if (args.user !== undefined) await findUser(pool, args.user, "--user");
      const text = "select * from svc_private.list_all_api_keys($1, $2)";
      const { rows } = await pool.query<Key>(text, [args.user ?? null, limit]);
      const head = ["id", "user", "name", "key", "scopes", "last used (UTC)", "expires (UTC)"];
      print(rows, () => table(head, rows.map(line)));
    });
  },
});

const line = ({ id, email, name, start, scopes, last_used_at, expires_at }: Key) => [
  id,
  email,
  name,
  `${start}…`,
  scopes.join(" "),
  last_used_at ? time(last_used_at) : "never",
  time(expires_at),
];

const revoke = defineCommand({
  description: "Revoke an API key, or all of a user. Calls, sockets and streams by it end within a second.",
  args: {
    ...cwdArgument,
    id: {
      type: "positional",
      description: "The key's id, as svc keys list shows it. (Default: --user names the keys)",
      required: false,
    },
    user: {
      type: "string",
      description: "Only without an id: all keys of the user with this id or address. (Default: one key)",
    },
  },
  run: async ({ args }) => {
    if ((args.id === undefined) === (args.user === undefined)) {
      throw new DefinitionError("Name the id of a key, or a user.", { hint: "svc keys revoke ID, or --user ADDRESS" });
    }
    await withSystem(args.cwd, async (pool) => {
      if (args.user !== undefined) await findUser(pool, args.user, "--user");
      const text = "select svc_private.act_revoke_api_keys($1, $2) as revoked";
      const { rows } = await pool.query<{ revoked: number }>(text, [args.id ?? null, args.user ?? null]);
      const revoked = rows[0]?.revoked ?? 0;
      if (revoked === 0) throw new DefinitionError("There is no such API key.", { hint: "svc keys list shows them." });
      conclude({ revoked }, `Revoked ${revoked} API ${revoked === 1 ? "key" : "keys"}.`);
    });
  },
});

export const command = defineCommand({ subCommands: { list, revoke } });

// If this file fails, `svc secrets reseal` takes hours for a hundred thousand values: each statement reads the whole table.
import { randomBytes } from "node:crypto";
import { symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import { expect, test, vi } from "vitest";
import { countEncrypted, reencryptAll } from "../../src/auth/reencrypt.ts";
import { secretConfig } from "../../src/kit/secret-version.ts";
import { database } from "../support/database.ts";

const db = database();
const secrets = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
const lost = "$ba$1$aa";

test("many values are encrypted again by few statements", async () => {
  const key = secretConfig(secrets.slice(1));
  const tokens = await Promise.all(Array.from({ length: 40 }, (_, n) => symmetricEncrypt({ key, data: `token ${n}` })));
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test')`);
  await db.sql(
    `insert into auth.account (id, user_id, provider_id, account_id, access_token, refresh_token)
     select n, 'ann', 'google', n, token, case when n = 1 then $2 end
       from unnest($1::text[]) with ordinality as t (token, n)`,
    [tokens, lost],
  );
  const pool = db.pool("system");
  const statements = vi.spyOn(pool, "query");
  expect(await reencryptAll(pool, secrets)).toEqual({ resealed: 40, lost: 1 });
  expect(statements.mock.calls.filter(([text]) => String(text).includes("reseal"))).toHaveLength(1);
  expect(await countEncrypted(pool, secrets)).toEqual({ bySecret: [40, 0], lost: 1 });
  const [row] = await db.sql("select access_token from auth.account where id = '7'");
  expect(await symmetricDecrypt({ key: secretConfig(secrets), data: row?.access_token })).toBe("token 6");
  expect(await reencryptAll(pool, secrets)).toEqual({ resealed: 0, lost: 1 });
  await pool.end();
});

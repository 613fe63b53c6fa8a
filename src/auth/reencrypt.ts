/**
 * Values that the library and its plugins encrypt, such as secrets of authenticator apps. Counts them by secret, and
 * encrypts them again with the newest secret. Without that, removing an old secret from AUTHLIB_SECRET would lock out
 * users whose second factor is encrypted with it.
 * Next hop: `sql/auth/sealed_columns.sql`, `sql/auth/next_sealed.sql`, `sql/auth/reseal.sql`.
 */
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import type pg from "pg";
import { secretConfig, versionOf } from "../kit/secret-version.ts";

export interface Encrypted {
  /** Number of values per secret, in the order of the list. */
  bySecret: number[];
  /** Number of values that no secret in the list can decrypt. */
  lost: number;
}

/** Values read per statement. */
const batch = 500;

/** @param secrets newest first */
export async function countEncrypted(pool: pg.Pool, secrets: readonly string[]): Promise<Encrypted> {
  const versions = secrets.map(versionOf);
  const sealed: Encrypted = { bySecret: versions.map(() => 0), lost: 0 };
  for await (const { version } of encryptedValues(pool)) {
    const at = versions.indexOf(version);
    if (at < 0) sealed.lost++;
    else sealed.bySecret[at] = (sealed.bySecret[at] ?? 0) + 1;
  }
  return sealed;
}

/**
 * Safe beside a running service, and safe to repeat.
 *
 * @param secrets newest first
 * @returns how many values were re-encrypted, and how many no secret could decrypt
 */
export async function reencryptAll(
  pool: pg.Pool,
  secrets: readonly string[],
): Promise<{ resealed: number; lost: number }> {
  const key = secretConfig(secrets);
  let [resealed, lost] = [0, 0];
  for await (const { relation, column, value, version } of encryptedValues(pool)) {
    if (version === key.currentVersion) continue;
    const plain = key.keys.has(version) ? await symmetricDecrypt({ key, data: value }).catch(() => null) : null;
    if (plain === null) {
      lost++;
      continue;
    }
    const values = [relation, column, value, await symmetricEncrypt({ key, data: plain })];
    const { rows } = await pool.query("select svc_private.reseal($1, $2, $3, $4) as done", values);
    if (rows[0].done) resealed++;
  }
  return { resealed, lost };
}

async function* encryptedValues(pool: pg.Pool) {
  const columns = await pool.query<{ relation: string; column_name: string }>(
    "select relation, column_name from svc_private.sealed_columns()",
  );
  for (const { relation, column_name: column } of columns.rows) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const next = "select value from svc_private.next_sealed($1, $2, $3, $4) as value";
      const { rows }: pg.QueryResult<{ value: string }> = await pool.query(next, [relation, column, after, batch]);
      for (const { value } of rows) {
        const envelope = parseEnvelope(value);
        if (envelope) yield { relation, column, value, version: envelope.version };
      }
      after = rows.at(-1)?.value;
    }
  }
}

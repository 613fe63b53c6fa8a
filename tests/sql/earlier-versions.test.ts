// If this file fails, `svc migrate` stops the processes of an earlier version, or a release cannot be taken back with
// --allow-older, or not be repeated after that. `earlier/` has the views of versions of svc, and the functions that they call, with
// the least and the most number of arguments (- for functions of commands alone, which may be gone). RELEASE=0.1.0 adds a file for
// this version.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const folder = join(import.meta.dirname, "earlier");

/** Functions whose names the code contains; those with arguments of any type are called with casts. */
const forms = `
  select format('%s %s function %I.%I(%s) returns %s', p.pronargs - p.pronargdefaults, p.pronargs, n.nspname, p.proname,
           pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)) as line
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
   where n.nspname || '.' || p.proname = any ($1) and p.prokind = 'f' and pg_get_function_arguments(p.oid) !~ '\\many'
   union all
  select format('- - view %s as select %s', c.oid::regclass,
           string_agg(format('null::%s%s as %I', format_type(a.atttypid, a.atttypmod),
             ' collate ' || nullif(a.attcollation, t.typcollation)::regcollation, a.attname), ', ' order by a.attnum))
    from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
   where c.relkind = 'v' and c.relnamespace = 'svc_private'::regnamespace
   group by c.oid
   order by 1`;

function namesIn(folders: readonly string[]): string[] {
  const files = folders.flatMap((path) =>
    readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map((file) => join(root, path, file)),
  );
  const code = files.filter((file) => file.endsWith(".ts")).map((file) => readFileSync(file, "utf8"));
  return code.flatMap((text) =>
    [...text.matchAll(/\b((?:svc|svc_private|svc_hidden|auth)\.\w+)\(/g)].map(([, it = ""]) => it),
  );
}

async function platform(): Promise<{ db: Database; client: pg.Client }> {
  const db = new Database();
  await db.create("platform");
  onTestFinished(() => db.drop());
  return { db, client: await db.connect("admin") };
}

/** The calls that PostgreSQL does not take, with its reason. */
async function refused(client: pg.Client, lines: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const line of lines) {
    const [, least, most, name] = /^(\d+) (\d+) function ([\w.]+)/.exec(line) ?? [];
    for (let count = Number(least); name && count <= Number(most); count++) {
      const places = Array.from({ length: count }, (_, index) => `$${index + 1}`).join(", ");
      await client
        .query(`prepare one as select * from ${name}(${places}); deallocate one`)
        .catch((error) => problems.push(`${name}(${places}): ${error.message}`));
    }
  }
  return problems;
}

test.for(readdirSync(folder))(
  "a version of %s works beside today's, can take its place, and be replaced again",
  async (file) => {
    const { db, client } = await platform();
    const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");
    expect(await refused(client, lines)).toEqual([]);

    await client.query("set role svc_owner; set check_function_bodies = off");
    for (const line of lines) {
      const form = line.replace(/^\S+ \S+ /, "");
      await client.query(`create or replace ${form}${form.startsWith("view") ? "" : " language plpgsql as ''"}`);
    }
    expect(await refused(client, lines)).toEqual([]);

    await migrate({ adminUrl: db.url("admin"), platform: root, again: true });
    expect(await refused(client, lines)).toEqual([]);
  },
);

test("files that cannot take the place of newer ones say how to go back", async () => {
  const { db, client } = await platform();
  const newer = "svc_private.list_upload_parts(uuid)";
  await client.query(`set role svc_owner; set check_function_bodies = off; drop function ${newer};
    create function ${newer} returns text language plpgsql as ''`);
  await expect(migrate({ adminUrl: db.url("admin"), platform: root, again: true })).rejects.toThrow(
    /^platform\/sql\/storage\/list_upload_parts.sql: cannot change return type.*\n {2}A newer version of svc/,
  );
});

test.runIf(process.env.RELEASE)("the functions of this version are kept for later ones", async () => {
  const { client } = await platform();
  const { rows } = await client.query(forms, [namesIn(["src", "workers"])]);
  writeFileSync(join(folder, `${process.env.RELEASE}.txt`), rows.map(({ line }) => `${line}\n`).join(""));
});

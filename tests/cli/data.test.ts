// If this file fails, an operator's export shows rows that its user may not see, or an import loses, doubles or hides rows.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { fixture, svc, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const run = (...args: string[]) => svcHere(db, fixture, ["data", ...args]);
const folder = mkdtempSync(join(tmpdir(), "svc-data-"));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
});

const titles = async (user: string) =>
  (await db.sql("select title from notes where user_id = $1 order by id", [user])).map(({ title }) => title);

describe("svc data", () => {
  test("import writes as the user, lists refused rows, and notes the act", async () => {
    const path = file("notes.csv", 'title\r\none\r\n"two\nlines"\r\n,extra\r\nthree\r\n');
    const { code, text } = await run("import", "notes", path, "--as", "ann@x.test");
    expect({ code, text }).toEqual({
      code: 1,
      text: expect.stringContaining(`Wrote 3 rows.\nRefused 1 rows: ${path}.refused.csv has their lines and reasons.`),
    });
    expect(await titles("ann")).toEqual(["one", "two\nlines", "three"]);
    expect(readFileSync(`${path}.refused.csv`, "utf8")).toBe(
      'line,code,reason\r\n5,BAD_REQUEST,"It has 2 cells, and the first line has 1."\r\n',
    );
    expect(await db.sql("select via, act, arguments from svc.operator_acts")).toEqual([
      { via: "svc data", act: "act_import_rows", arguments: { resource: "notes", userId: "ann", file: "notes.csv" } },
    ]);
  });

  test("export writes what the user sees, which comes in again", async () => {
    const path = join(folder, "out.ndjson");
    const given = await run("export", "notes", "--as", "ann", "--output", path, "--json");
    expect(JSON.parse(given.out)).toMatchObject({ file: path });
    const lines = readFileSync(path, "utf8").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).title).sort()).toEqual(["one", "three", "two\nlines"]);
    expect((await run("export", "notes", "--as", "bob")).out.split("\r\n")).toEqual([expect.any(String), ""]);
    expect((await run("import", "notes", path, "--as", "bob")).code).toBe(0);
    expect((await titles("bob")).sort()).toEqual((await titles("ann")).sort());
    expect((await run("export", "notes", "--as", "ann", "--output", path)).text).toContain("exists already");
  });

  test("import goes on at a line", async () => {
    const path = file("more.csv", "title\nfour\nfive\nsix\n");
    expect((await run("import", "notes", path, "--as", "ann", "--from-line", "3")).code).toBe(0);
    expect((await titles("ann")).slice(3)).toEqual(["five", "six"]);
  });

  test("import that is stopped ends behind a batch, and says at which line to continue", async () => {
    const path = file("many.csv", `title\n${Array.from({ length: 50_000 }, (_, at) => `many ${at}\n`).join("")}`);
    const { child, output, ended } = svc(db, fixture, ["data", "import", "notes", path, "--as", "bob"]);
    const count = async () => Number((await db.sql("select count(*) from notes where title like 'many %'"))[0]?.count);
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(0);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(1);
    const [, line] = /continue with --from-line (\d+)\./.exec(output()) ?? [];
    expect(Number(line) - 2).toBe(await count());
    expect((await run("import", "notes", path, "--as", "bob", "--from-line", String(line))).code).toBe(0);
    expect(await count()).toBe(50_000);
  });

  test("import writes no row whose neighbours it cannot list as refused", async () => {
    const path = file("unlisted.csv", "title\nkept\n,extra\n");
    const { code, text } = await run(
      "import",
      "notes",
      path,
      "--as",
      "bob",
      "--refused",
      join(folder, "none/list.csv"),
    );
    expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining("continue with --from-line 2.") });
    expect(text).toContain("Name another file with --refused.");
    expect(await titles("bob")).not.toContain("kept");
  });

  test("export that is stopped leaves no file that looks like a whole one", async () => {
    await db.sql(
      "insert into notes (user_id, title) select 'ann', repeat('long ', 2000) from generate_series(1, 20000)",
    );
    const path = join(folder, "stopped.csv");
    const { child, output, ended } = svc(db, fixture, ["data", "export", "notes", "--as", "ann", "--output", path]);
    await expect.poll(() => existsSync(path), { timeout: 60_000, interval: 5 }).toBe(true);
    child.kill("SIGINT");
    expect({ code: (await ended).code, output: output() }).toEqual({
      code: 1,
      output: expect.stringContaining("Interrupted."),
    });
    expect(existsSync(path)).toBe(false);
    await db.sql("delete from notes where title like 'long %'");
  });

  test("export that fails leaves no file that looks like a whole one", async () => {
    await db.sql(
      `create policy fails on notes as restrictive for select to svc_authenticated using (1 / length(left(title, 0)) = 1)`,
    );
    const path = join(folder, "half.csv");
    const { code, text } = await run("export", "notes", "--as", "ann", "--output", path);
    await db.sql("drop policy fails on notes");
    expect(code, text).toBe(1);
    expect(existsSync(path)).toBe(false);
  });

  test.for([
    [["export", "nonsense", "--as", "ann"], "There is no resource nonsense"],
    [["export", "notes"], "required option '--as"],
    [["export", "notes", "--as", "nobody"], "There is no user nobody"],
    [["export", "notes", "--as", "ann", "--filters", "{"], "--filters is not JSON"],
    [["export", "notes", "--as", "ann", "--filters", '{"user":1}'], "filters.user"],
    [["export", "notes", "--as", "ann", "--output", "x.xlsx"], "--format csv or --format ndjson"],
    [["import", "notes", "missing.csv", "--as", "ann"], "There is no file missing.csv"],
    [["import", "notes", file("wrong.csv", "tilte\nx\n"), "--as", "ann"], 'names "tilte"'],
    [["import", "notes", file("mode.csv", "title\nx\n"), "--as", "ann", "--mode", "upsert"], "upsertBy"],
    [["import", "notes", file("line.csv", 'title\n"a\nb"\n'), "--as", "ann", "--from-line", "3"], "No row begins"],
  ] as const)("%j says what is wrong", async ([args, message]) => {
    const { code, text } = await run(...args);
    expect(text).toContain(message);
    expect(code).toBe(1);
    expect(existsSync("x.xlsx")).toBe(false);
  });
});

// If this file fails, callers get an error code that no page explains, or a page explains one that does not exist.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { errorCodes } from "../../src/kit/error-codes.ts";
import { sqlStates } from "../../src/postgres/errors.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/reference/errors.md"), "utf8");

/** The cells of the table rows whose first cell matches, without their backquotes. */
const rows = (text: string, first: RegExp) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    )
    .filter(([name = ""]) => first.test(name));

/** SQLSTATEs of our own and of applications that a SQL text raises. */
function raised(sql: string): string[] {
  const code = sql.replace(/--.*$/gm, "");
  return [...code.matchAll(/(?:errcode\s*(?:=|:=)\s*|sqlstate\s+)'((?:SV|AP)\w*)'/gi)].map(([, state = ""]) => state);
}

const files = ["sql", "migrations", "examples", "tests/fixture"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sql") && !name.includes("node_modules"))
    .map((name) => join(folder, name)),
);

describe("docs/reference/errors.md", () => {
  test("lists every code with its status, in the table's order", () => {
    const listed = rows(page, /^[A-Z_]+$/).map(([code, status]) => [code, Number(status)]);
    expect(listed).toEqual(Object.entries(errorCodes).map(([code, { status }]) => [code, status]));
  });
  test("says of every code what it means and what to do", () => {
    for (const [code, , meaning, todo] of rows(page, /^[A-Z_]+$/)) {
      expect(`${code}: ${meaning} ${todo}`).toMatch(/: .{10,}\. .{8,}\.$/);
    }
  });
  test("lists every SQLSTATE with its code", () => {
    const listed = Object.fromEntries(rows(page, /^[0-9A-Z]{5}$/).map(([state, code]) => [state, code]));
    expect(listed).toEqual(Object.fromEntries(Object.entries(sqlStates).map(([state, { code }]) => [state, code])));
  });
});

describe("SQLSTATEs of our own", () => {
  test("that SQL raises are in the map", () => {
    expect(files.length).toBeGreaterThan(5);
    const unknown = files.flatMap((file) =>
      raised(readFileSync(join(root, file), "utf8"))
        .filter((state) => !(state in sqlStates))
        .map((state) => `${file}: ${state}`),
    );
    expect(unknown).toEqual([]);
  });
  test("are five characters, as PostgreSQL wants them, and end in the status they become", () => {
    for (const [state, { code }] of Object.entries(sqlStates).filter(([state]) => /^(SV|AP)/.test(state))) {
      expect(state.slice(2)).toBe(String(errorCodes[code].status));
    }
  });
  test.for([
    ["raise exception using errcode = 'SV404', hint = 'x'", ["SV404"]],
    ["raise exception using hint = 'x', ERRCODE='SV4040';", ["SV4040"]],
    ["raise sqlstate 'SV409';\nraise exception using errcode := 'SV999'", ["SV409", "SV999"]],
    ["-- errcode = 'SV999'\nraise exception using errcode = '23505'", []],
  ] as const)("are found in %j", ([sql, states]) => expect(raised(sql)).toEqual(states));
});

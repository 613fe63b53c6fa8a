// If this file fails, what an operator copies out of Studio does harm where it is pasted: in a shell or a spreadsheet.
import { execFileSync } from "node:child_process";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { run, studioInBrowser } from "./browser-studio.ts";

if (!chromiumPath) {
  test.skip(`Studio in a browser: ${whySkipped}`);
} else {
  const { db, opened, tab } = studioInBrowser();
  const copied = async (page: Page, label: string) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: opened.origin });
    await page.getByRole("button", { name: label, exact: true }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  /** The arguments that a program gets from a shell. */
  const words = (command: string) =>
    execFileSync("sh", ["-c", command.replace(/^npx svc /, "printf '%s\\n' ")], { encoding: "utf8" })
      .split("\n")
      .slice(0, -1);
  const hostile = `x' "; echo owned $(echo owned) \`echo owned\` #`;
  const address = (parts: Record<string, string>) => `?${new URLSearchParams(parts)}`;

  test.each<[panel: string, parts: Record<string, string>, words: string[]]>([
    ["sql", { sql: "select 'it''s' as a", as: hostile }, ["db", "psql", "--as", hostile, "-c", "select 'it''s' as a"]],
    [
      "data",
      { table: "public.notes", as: hostile },
      ["db", "psql", "--as", hostile, "-c", 'select * from public.notes order by "id" limit 50'],
    ],
    ["jobs", { state: "finished", name: hostile }, ["jobs", "history", "--name", hostile]],
    ["workflows", { run }, ["workflows", "show", run]],
  ])("a command of %s has the parts of the address as words", async (panel, parts, expected) => {
    const page = await tab(address({ panel, ...parts }));
    expect(words(await copied(page, "Copy as command"))).toEqual(expected);
  });

  test("a cell that a spreadsheet would compute is text, and a number stays one", async () => {
    await db.sql(`insert into notes (id, user_id, title) values (600, 'ann', $1), (601, 'ann', '-2.5')`, [
      "-2+3+cmd|' /C calc'!A0",
    ]);
    const sql = "select title from notes where id >= 600 order by id";
    const page = await tab(address({ panel: "sql", as: "ann", sql }));
    const csv = `"title"\r\n"'-2+3+cmd|' /C calc'!A0"\r\n"-2.5"`;
    expect((await copied(page, "Copy as CSV")).replaceAll(/\r?\n/g, "\r\n")).toBe(csv);
  });

  test("the SQL of a policy quotes its name", async () => {
    await db.sql(`create policy "select" on notes as restrictive for select to svc_authenticated using (true)`);
    const page = await tab(address({ panel: "policies", table: "public.notes" }));
    await page.getByText("As SQL").first().waitFor();
    expect(await page.textContent("main")).toContain('create policy "select" on ');
  });

  test("an address that names no panel shows the first one", async () => {
    const page = await tab(address({ panel: "constructor" }));
    expect(await page.title()).toBe("Home · Studio");
  });
}

// If this file fails, an operator cannot edit rows in Studio, or sees another change than the one that is made.
import { expect, test } from "vitest";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { studioInBrowser } from "./browser-studio.ts";

if (!chromiumPath) {
  test.skip(`Studio in a browser: ${whySkipped}`);
} else {
  const { db, tab, settled } = studioInBrowser();

  test("Data: an edit, a new row and a deletion are staged by keyboard, shown as SQL and made together", async () => {
    const page = await tab("?panel=data&table=public.notes&as=ann&row=%5B%222%22%5D");
    await page.getByRole("button", { name: "Edit" }).press("Enter");
    await page.getByLabel("title text", { exact: true }).fill("it's <b>new</b>");
    await page.getByRole("button", { name: "Stage the change" }).press("Enter");
    const staged = page.getByRole("region", { name: "Staged changes" });
    await staged.getByText("1 staged change as user ann").waitFor();
    expect(await staged.locator("pre").textContent()).toBe(
      "update public.notes set title = 'it''s <b>new</b>' where id = '2' and title::text = 'note 2';",
    );
    expect(await page.locator("dialog").count()).toBe(0);

    await page.getByRole("button", { name: "New row" }).press("Enter");
    await page.getByLabel("user_id text", { exact: true }).fill("ann");
    await page.getByLabel("title text", { exact: true }).fill("another");
    await page.getByRole("button", { name: "Stage the row" }).press("Enter");
    await staged.getByText("insert into public.notes (user_id, title) values ('ann', 'another');").waitFor();

    await page.getByRole("link", { name: "Open row 4", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Stage its deletion" }).press("Enter");
    await staged.getByText("3 staged changes as user ann").waitFor();
    await settled(page);

    await staged.getByRole("button", { name: "Make them" }).press("Enter");
    await staged.waitFor({ state: "detached" });
    await page.getByText("it's <b>new</b>").waitFor();
    expect(await db.sql("select title from notes where id in (2, 4) or title = 'another' order by 1")).toEqual([
      { title: "another" },
      { title: "it's <b>new</b>" },
    ]);
    const acts = await db.sql("select act, arguments ->> 'as' as user, outcome from svc.operator_acts");
    expect(acts).toEqual([{ act: "act_change_rows", user: "ann", outcome: "3 changed" }]);
  });

  // A text area has LF for each line break: the text of a row was rewritten whichever of its columns was edited.
  test("Data: line breaks of a text stay what they are", async () => {
    await db.sql("update notes set title = $1 where id = 8", ["a\r\nb"]);
    const page = await tab("?panel=data&table=public.notes&as=ann&row=%5B%228%22%5D");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("button", { name: "Stage the change" }).click();
    await page.getByText("No value is another one.").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("title text", { exact: true }).fill("a\nb\nc");
    await page.getByRole("button", { name: "Stage the change" }).click();
    const staged = page.getByRole("region", { name: "Staged changes" });
    await staged.getByRole("button", { name: "Make them" }).click();
    await staged.waitFor({ state: "detached" });
    expect(await db.sql("select title from notes where id = 8")).toEqual([{ title: "a\r\nb\r\nc" }]);
  });

  // The SQL compared by =, which json does not have, and which compares the areas of boxes.
  test("Data: the SQL that is copied changes what the act would change, in columns of any type", async () => {
    await db.sql(`create table shapes (id integer primary key, doc json, area box);
      grant select, update on shapes to svc_authenticated;
      insert into shapes values (1, '{ "a": 1 }', '(1,1),(0,0)')`);
    const page = await tab("?panel=data&table=public.shapes&as=ann&row=%5B%221%22%5D");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("doc json", { exact: true }).fill("[]");
    await page.getByLabel("area box", { exact: true }).fill("(2,2),(0,0)");
    await page.getByRole("button", { name: "Stage the change" }).click();
    const staged = page.getByRole("region", { name: "Staged changes" });
    const sql = (await staged.locator("pre").textContent()) ?? "";
    await db.sql("update shapes set area = '(3,1),(2,0)'");
    await db.sql(sql);
    const changed = "select id from shapes where doc::text = '[]'";
    expect(await db.sql(changed)).toEqual([]);
    await db.sql("update shapes set area = '(1,1),(0,0)'");
    await db.sql(sql);
    expect(await db.sql(changed)).toEqual([{ id: 1 }]);
  });

  test("Data: what PostgreSQL refuses says so, stays staged, and can be forgotten", async () => {
    const page = await tab("?panel=data&table=public.notes&as=ann&row=%5B%226%22%5D");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("user_id text", { exact: true }).fill("ben");
    await page.getByRole("button", { name: "Stage the change" }).click();
    const staged = page.getByRole("region", { name: "Staged changes" });
    await staged.getByRole("button", { name: "Make them" }).click();
    await staged.getByText(/row-level security/).waitFor();
    await staged.getByText("Nothing was changed.").waitFor();
    await staged.getByRole("button", { name: "Forget them" }).click();
    await staged.waitFor({ state: "detached" });
    expect(await db.sql("select user_id from notes where id = 6")).toEqual([{ user_id: "ann" }]);
  });
}

// If this file fails, an operator's link, Back button, skip link or second press does something else than it says.
import { expect, test } from "vitest";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { studioInBrowser } from "./browser-studio.ts";

if (!chromiumPath) {
  test.skip(`Studio in a browser: ${whySkipped}`);
} else {
  const { db, opened, tab, settled } = studioInBrowser();

  test("the skip link moves the focus, and a reload afterwards shows the page", async () => {
    const page = await tab("?panel=jobs");
    await settled(page);
    await page.getByRole("link", { name: "Skip to the content" }).press("Enter");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Jobs");
    await page.reload();
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
    await page.goto(`${opened.origin}/?panel=crons#main`);
    await page.getByRole("heading", { name: "Crons" }).waitFor();
  });

  test("a tab whose Studio was started again takes the new address", async () => {
    const page = await tab();
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${opened.origin}/#${opened.token}`);
    await page.getByText("The disk is full.").waitFor();
    await settled(page);
    expect([await page.getByRole("alert").count(), page.url()]).toEqual([0, `${opened.origin}/`]);
  });

  test("a double click acts once, and confirms nothing", async () => {
    await db.sql(`insert into notes (id, user_id, title) values (700, 'ann', 'double')`);
    const page = await tab("?panel=crons");
    await page.getByRole("button", { name: "Run now notes.nightly" }).dblclick();
    await expect.poll(() => db.sql("select 1 from svc.operator_acts where act = 'act_run_cron'")).toHaveLength(1);
    await page.goto(`${opened.origin}/?panel=people&user=ann`);
    await page.getByRole("button", { name: "End the session" }).dblclick();
    await page.getByRole("button", { name: "End: sure?" }).waitFor();

    await page.goto(`${opened.origin}/?panel=data&table=public.notes&as=ann`);
    await page.getByRole("button", { name: "New row" }).click();
    await page.getByLabel("user_id text", { exact: true }).fill("ann");
    await page.getByLabel("title text", { exact: true }).fill("made once");
    await page.getByRole("button", { name: "Stage the row" }).click();
    await page.getByRole("button", { name: "Make them" }).dblclick();
    await page.getByRole("region", { name: "Staged changes" }).waitFor({ state: "detached" });
    await settled(page);
    expect(await db.sql("select 1 from notes where title = 'made once'")).toHaveLength(1);
    expect(await db.sql("select act from svc.operator_acts order by id")).toEqual([
      { act: "act_run_cron" },
      { act: "act_change_rows" },
    ]);
  });

  test("Back leads to the place before, however often this one was shown anew", async () => {
    const page = await tab("?panel=home");
    await page.getByRole("link", { name: "SQL", exact: true }).click();
    for (let times = 0; times < 3; times++) {
      await page.getByLabel("Statement").fill("select 1");
      await page.getByRole("button", { name: /^Run/ }).click();
      await settled(page);
    }
    await page.goBack();
    await expect.poll(() => page.url()).toMatch(/panel=sql$/);
    await page.goBack();
    await page.getByText("The disk is full.").waitFor();
  });

  test("a row whose page comes late is not opened over another panel", async () => {
    const page = await tab();
    let answer = () => {};
    await page.route("**/api/rows", async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.continue();
    });
    const asked = page.waitForRequest("**/api/rows");
    await page.goto(`${opened.origin}/?panel=data&table=public.notes&as=ann&row=%5B%222%22%5D`);
    await asked;
    await page.getByRole("link", { name: "Crons" }).click();
    await page.getByRole("table", { name: "Crons" }).waitFor();
    const answered = page.waitForResponse("**/api/rows");
    answer();
    await (await answered).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await page.locator("dialog").count()).toBe(0);
  });

  test.each(["x", "5", "[5]", "{}"])("an address with the row %s says that it names none", async (row) => {
    const page = await tab(`?panel=data&table=public.notes&as=ann&row=${row}`);
    await page.getByRole("alert").getByText("The address names no row").waitFor();
  });

  test("an address may hold the longest statement", async () => {
    const { status } = await opened.raw(`/?panel=sql&sql=${encodeURIComponent("가".repeat(20_000))}`);
    expect(status).toBe(200);
  });

  test("Data: a key of empty texts can be opened, and keys that look alike are told apart", async () => {
    await db.sql(`create table pairs (a text, b text, "user" text, primary key (a, b));
      grant select, update on pairs to svc_authenticated;
      insert into pairs values ('', '', 'empty'), ('x', 'y,z', repeat('long ', 200)), ('x,y', 'z', 'ann')`);
    const page = await tab("?panel=data&table=public.pairs&as=ann");
    await page.getByText('"", ""').click();
    await page.getByRole("dialog").getByText("empty").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByText("x,y, z").click();
    await page.getByRole("dialog").getByText("update: admitted").waitFor();
    expect(await page.getByRole("button", { name: "Show all of it" }).count()).toBe(0);

    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("user text", { exact: true }).fill("ben");
    await page.getByRole("button", { name: "Stage the change" }).click();
    await db.sql((await page.locator(".staged pre").textContent()) ?? "");
    expect(await db.sql(`select "user" from pairs where a = 'x,y'`)).toEqual([{ user: "ben" }]);
  });

  test("Policies: the SQL quotes a name that needs it", async () => {
    await db.sql(`create policy "Some ""own"" rows" on pairs for select to svc_authenticated using (true)`);
    const page = await tab("?panel=policies&table=public.pairs");
    await settled(page);
    expect(await page.locator("pre").allTextContents()).toContainEqual(
      expect.stringContaining('create policy "Some ""own"" rows" on public.pairs'),
    );
  });
}

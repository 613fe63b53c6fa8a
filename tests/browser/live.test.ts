// If this file fails, the first page that `npm start` shows does not show two people on one table.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { barriers, chromiumPath, deskApp, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`the start page in a browser: ${whySkipped}`);
} else {
  const db = database("platform");
  const app = deskApp(db);
  const pane = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
  const cards = (page: Page, name: string) => pane(page, name).locator(".shared-card > span").allTextContents();
  const soon = <T>(read: () => T) => expect.poll(read);
  const run = async (page: Page, who: string, statement: string) => {
    await page.getByLabel(`As ${who}`).check({ force: true });
    await page.getByRole("textbox", { name: "SQL" }).fill(statement);
    await page.getByRole("button", { name: "Run" }).click();
  };

  test("two people see what the policies show them, and each other's changes", async () => {
    const page = await app.page({}, "");
    const ofAnn = ["Fix the printer", "Water the plants", "Ask for a raise", "Order paper"];
    const ofBob = ["Plan a party for Ann", "Fix the printer", "Water the plants", "Order paper"];
    await soon(async () => (await cards(page, "Ann")).sort()).toEqual(ofAnn.sort());
    await soon(async () => (await cards(page, "Bob")).sort()).toEqual(ofBob.sort());
    await page.getByText("1 card is hidden from Bob by the policy select_shared_or_own.").waitFor();
    for (const who of ["Ann", "Bob"]) await pane(page, who).locator('.light[data-status="live"]').waitFor();

    await page.getByLabel("New card of Ann").fill("Call Busan");
    await page.keyboard.press("Enter");
    await soon(async () => (await cards(page, "Bob"))[0]).toBe("Call Busan");
    const strip = page.getByRole("region", { name: "What the last click did" });
    await strip.getByText(/Bob after \d+ ms/).waitFor();
    await expect
      .poll(() => strip.textContent())
      .toMatch(
        /Ann: cards\.create \{"title":"Call Busan"\}.*cards_create.*insert_own.*200 after.*"type":"invalidate".*"xid":/,
      );
    await page.getByRole("button", { name: "Shared: Call Busan" }).click();
    await soon(async () => (await cards(page, "Bob")).includes("Call Busan")).toBe(false);
    await page.getByText("2 cards are hidden from Bob").waitFor();

    await run(page, "Bob", "update cards set title = 'Repair the printer' where title like 'Fix%'");
    await soon(async () => (await cards(page, "Ann")).includes("Repair the printer")).toBe(true);
    await page.getByText(/Ann’s cards changed after \d+ ms/).waitFor();

    await run(page, "Bob", "select title from cards where title = 'Call Busan'");
    await page.getByText("0 rows").waitFor();
    await run(page, "Bob", "update cards set is_shared = false");
    await page
      .getByRole("alert")
      .getByText("not allowed")
      .or(page.getByRole("alert").getByText(/polic/))
      .first()
      .waitFor();
    await run(page, "Bob", "select 1; set svc.user_id = 'another'");
    await page.getByRole("alert").first().waitFor();

    await page.reload();
    await soon(async () => (await cards(page, "Ann")).includes("Call Busan")).toBe(true);
    expect(await db.sql("select count(*)::int as people from auth.user")).toEqual([{ people: 2 }]);
  });

  test.for([
    { name: "a phone in the dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" as const },
    { name: "a desk in the light", viewport: { width: 1440, height: 900 }, colorScheme: "light" as const },
  ])("is usable on $name", async ({ name, ...options }) => {
    const page = await app.page(options, "live");
    await soon(() => cards(page, "Bob")).not.toEqual([]);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText(/\d rows?, \d+ ms/).waitFor();
    await page.getByText("The lines that make it").click();
    expect(await barriers(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    if (process.env.PICTURES) await page.screenshot({ path: `/tmp/live-${name.slice(0, 7)}.png`, fullPage: true });
  });
}

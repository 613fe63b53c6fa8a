/**
 * Makes the pictures in README.md and docs/ from the running desk, with `npm run pictures`. Otherwise skipped: it tests
 * nothing, and is here because it shares code with the tests of the desk.
 */
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { add, chromiumPath, deskApp, goTo, signIn, signUp, task } from "./desk-app.ts";

const wide = { viewport: { width: 1120, height: 640 }, deviceScaleFactor: 1.5 };
const phone = { viewport: { width: 360, height: 640 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

const save = async (page: Page, name: string) => {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.waitForTimeout(500); // transitions end
  const picture = await page.screenshot({ animations: "disabled" });
  // They have only 256 colours, which take a third of the bytes.
  await sharp(picture)
    .png({ palette: true, effort: 10 })
    .toFile(join(root, `docs/pictures/${name}.png`));
};

if (!process.env.PICTURES || !chromiumPath) {
  test.skip("the pictures of the documentation: `npm run pictures`, with Chromium");
} else {
  const app = deskApp(database("platform"));

  test("the pictures of the documentation", { timeout: 300_000 }, async () => {
    await app.startWorker();
    const ada = await app.page(wide);
    const email = await signUp(ada, "Ada");
    for (const title of ["Order paper", "Write to the printers", "Answer the customer in Busan"]) await add(ada, title);
    await task(ada, "Answer the customer").getByLabel("Priority").selectOption("Urgent");
    await task(ada, "Order paper").getByRole("checkbox").click();
    await ada.getByText("2 open").waitFor();
    await save(ada, "tasks");

    const onPhone = await app.page(phone);
    await signIn(onPhone, email);
    await task(onPhone, "Answer the customer").waitFor();
    await save(onPhone, "phone");

    await goTo(ada, "Expenses");
    await ada.getByLabel("What it was for").fill("Train to Busan");
    await ada.getByLabel("Amount").fill("120.50");
    await ada.keyboard.press("Enter");
    await ada.locator(".timeline").getByText("Waiting for a colleague").waitFor();
    const bob = await app.page(wide);
    await signUp(bob, "Bob");
    await goTo(bob, "Expenses");
    await bob.locator("li", { hasText: "Train to Busan" }).getByRole("button", { name: "Approve" }).click();
    await ada.locator(".timeline").getByText("Paid").waitFor();
    await save(ada, "workflow");

    await goTo(ada, "Docs", "Ask the docs");
    await ada.getByText(/^\d+ documents$/).waitFor();
    await ada.getByRole("searchbox").fill("A transaction that rolls back never sends events.");
    await ada.keyboard.press("Enter");
    await ada.getByText("The documents say so.").waitFor();
    await ada.getByText("Realtime › Who is notified").first().click();
    await ada.locator("mark", { hasText: "A transaction that rolls back" }).first().waitFor();
    await save(ada, "answer");
  });
}

// If this file fails, an expense does not wait for a decision, or the page does not show its progress.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { barriers, chromiumPath, deskApp, goTo, signUp, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`expenses in a browser: ${whySkipped}`);
} else {
  const db = database("platform");
  const app = deskApp(db);
  beforeAll(() => app.startWorker());
  const soon = <T>(read: () => T) => expect.poll(read);

  const person = async (name: string, options = {}) => {
    const page = await app.page(options);
    await signUp(page, name);
    await goTo(page, "Expenses");
    return page;
  };
  type Page = Awaited<ReturnType<typeof person>>;
  const file = async (page: Page, purpose: string, amount: string) => {
    await page.getByLabel("What it was for").fill(purpose);
    await page.getByLabel("Amount").fill(amount);
    await page.keyboard.press("Enter");
    await page.locator("details", { hasText: purpose }).waitFor();
  };
  const moments = async (page: Page) =>
    (await page.locator(".timeline li span").allTextContents()).map((text) => text.replace(/, by process \d+$/, ""));

  describe("an expense", () => {
    test("waits for a colleague, whose decision with the keyboard appears in its timeline without a reload", async () => {
      const [ada, bob] = await Promise.all([person("Ada"), person("Bob")]);
      await file(ada, "Train to Busan", "120.50");
      await ada.locator(".timeline").getByText("Waiting for a colleague").waitFor();
      // Users may not decide on their own expenses.
      expect(await ada.getByRole("button", { name: "Approve" }).count()).toBe(0);

      const approve = bob.locator("li", { hasText: "Train to Busan" }).getByRole("button", { name: "Approve" });
      await approve.press("Enter");
      await soon(() => moments(ada)).toEqual([
        "Filed",
        "Approved by Bob",
        "The decision was written down",
        "Payment begins",
        "Paid",
      ]);
      await soon(() => ada.locator(".state").textContent()).toBe("Approved by Bob");
      await approve.waitFor({ state: "detached" });
      expect(await barriers(ada)).toEqual([]);
    });

    test("of a small sum is decided at once, and on a phone", async () => {
      const page = await person("Kay", { viewport: { width: 360, height: 740 } });
      await file(page, "Pencils", "9.90");
      await soon(() => moments(page)).toEqual(["Filed", "The decision was written down", "Payment begins", "Paid"]);
      const excess = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(await excess()).toBe(0);
      expect(await barriers(page)).toEqual([]);
    });
  });
}

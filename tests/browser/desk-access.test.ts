// If this file fails, the desk keeps out who has a keyboard alone, a screen reader, weak eyes or a small phone.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { add, barriers, chromiumPath, deskApp, goTo, signUp, task, titles, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`the desk for everybody: ${whySkipped}`);
} else {
  const db = database("platform");
  const app = deskApp(db);
  const soon = <T>(read: () => T) => expect.poll(read);

  test("renames and removes with the keyboard alone, and never loses the focus", async () => {
    const page = await app.page();
    await signUp(page, "Kay");
    await add(page, "First");
    await add(page, "Second");
    await task(page, "Second").getByRole("button", { name: "Rename" }).press("Enter");
    await page.keyboard.type("Renamed");
    await page.keyboard.press("Enter");
    await soon(() => titles(page)).toEqual(["Renamed", "First"]);
    const focused = () => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.ariaLabel);
    await soon(focused).toBe("Rename");

    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await soon(() => titles(page)).toEqual(["First"]);
    await soon(focused).toBe("First");
  });

  const screens = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };
  test.for(["phone", "desktop"] as const)(
    "axe finds no serious barrier in any section, light or dark, %s",
    async (screen) => {
      const page = await app.page({ viewport: screens[screen] });
      const look = async (where: string) => {
        await page.emulateMedia({ colorScheme: "light" });
        expect(await barriers(page), `${where}, light`).toEqual([]);
        // The schemes differ in colours alone.
        await page.emulateMedia({ colorScheme: "dark" });
        expect(await barriers(page, ["color-contrast"]), `${where}, dark`).toEqual([]);
      };
      const links = page.getByRole("navigation", { name: "Sections" }).getByRole("link");
      const everywhere = async () => {
        for (const link of await links.all()) {
          await link.click();
          await page.locator("main h2").waitFor();
          await look((await link.textContent()) ?? "");
        }
        await links.filter({ hasText: "Tasks" }).click();
      };
      await everywhere();
      await signUp(page, "Ada");
      await add(page, "Open one");
      await add(page, "Done one");
      await task(page, "Done one").getByRole("checkbox").click();
      await task(page, "Open one").getByRole("button", { name: "Remove" }).click();
      await soon(() => task(page, "Done one").getByRole("checkbox").isChecked()).toBe(true);
      await everywhere();
      await goTo(page, "Board");
      await page.getByText("Write a post").click();
      await look("Board, writing");
    },
  );

  test("going to another section says so: the title, and the focus on its heading", async () => {
    const page = await app.page();
    await goTo(page, "Board");
    await soon(() => page.title()).toBe("Board · Desk");
    await soon(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Board");
    await page.goBack();
    await soon(() => page.title()).toBe("Tasks · Desk");
  });

  test("a screen of 360 pixels never scrolls sideways", async () => {
    const page = await app.page({ viewport: { width: 360, height: 740 } });
    const excess = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await excess()).toBe(0);
    await signUp(page, "A-name-that-is-rather-long-and-does-not-break");
    await add(page, "w".repeat(200));
    expect(await excess()).toBe(0);
    await page.locator(".task").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("button", { name: "Save" }).waitFor();
    expect(await excess()).toBe(0);
    for (const link of await page.getByRole("navigation", { name: "Sections" }).getByRole("link").all()) {
      await link.click();
      expect(await excess(), (await link.textContent()) ?? "").toBe(0);
    }
    await goTo(page, "Board");
    await page.getByText("Write a post").click();
    await page.getByLabel("Text").waitFor();
    expect(await page.getByRole("heading", { name: "My tasks" }).isVisible()).toBe(false);
    expect(await excess()).toBe(0);
  });
}

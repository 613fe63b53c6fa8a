// If this file fails, the application that `npm start` shows does not work in a browser.
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import {
  add,
  barriers,
  chromiumPath,
  deskApp,
  goTo,
  live,
  signIn,
  signUp,
  task,
  titles,
  whySkipped,
} from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`the desk in a browser: ${whySkipped}`);
} else {
  const db = database("platform");
  const app = deskApp(db);
  const soon = <T>(read: () => T) => expect.poll(read);

  describe("one person", () => {
    test("signs up, adds, ticks, searches, filters and turns pages", async () => {
      const page = await app.page();
      await signUp(page, "Ada");
      await page.getByText("Nothing to do yet.").waitFor();

      for (let number = 1; number <= 12; number++) await add(page, `Task ${number} of twelve`);
      await page.getByText("1–10 of 12").waitFor();
      await page.getByRole("button", { name: "Next" }).click();
      await soon(() => titles(page)).toEqual(["Task 2 of twelve", "Task 1 of twelve"]);

      await task(page, "Task 2 of").getByRole("checkbox").click();
      await page.getByText("11 open").waitFor();
      const done = () => db.sql("select title from public.tasks where done");
      await soon(done).toEqual([{ title: "Task 2 of twelve" }]);

      await page.getByLabel("Done").check({ force: true });
      await soon(() => titles(page)).toEqual(["Task 2 of twelve"]);
      await page.getByLabel("All", { exact: true }).check({ force: true });
      await page.getByLabel("Search tasks").fill("task 7");
      await soon(() => titles(page)).toEqual(["Task 7 of twelve"]);

      await task(page, "Task 7").getByRole("button", { name: "Remind" }).click();
      await page.getByText("It will come up again in an hour.").waitFor();
      const reminders = () =>
        db.sql(
          "select from graphile_worker.jobs where run_at > now() + interval '50 minutes' and run_at < now() + interval '70 minutes'",
        );
      await soon(async () => (await reminders()).length).toBe(1);

      await task(page, "Task 7").getByLabel("Priority").selectOption("Urgent");
      await page.getByLabel("Search tasks").fill("");
      await page.getByLabel("Filter by priority").selectOption("Urgent");
      await soon(() => titles(page)).toEqual(["Task 7 of twelve"]);
    });

    test("renames and removes with the keyboard alone, and never loses the focus", async () => {
      const page = await app.page();
      await signUp(page, "Kay");
      await add(page, "First");
      await add(page, "Second");
      await task(page, "Second").getByRole("button", { name: "Rename" }).press("Enter");
      await page.keyboard.type("Renamed");
      await page.keyboard.press("Enter");
      await soon(() => titles(page)).toEqual(["Renamed", "First"]);
      const focused = () =>
        page.evaluate(() => document.activeElement?.textContent || document.activeElement?.ariaLabel);
      await soon(focused).toBe("Rename");

      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Enter");
      await soon(() => titles(page)).toEqual(["First"]);
      await soon(focused).toBe("First");
    });

    test("is told what was wrong, and keeps what was typed", async () => {
      const page = await app.page();
      await signIn(page, "nobody@example.com", "wrong horse");
      await page.getByRole("alert").getByText("Invalid credentials").waitFor();
      expect(await page.getByLabel("Email").inputValue()).toBe("nobody@example.com");
    });
  });

  describe("two windows of one person, and one of another", () => {
    test("a change in one appears in the other without a reload, and never in the other person's", async () => {
      const [first, second, other] = await Promise.all([app.page(), app.page(), app.page()]);
      const email = await signUp(first, "Ada");
      await Promise.all([signUp(other, "Eve"), signIn(second, email).then(() => live(second))]);
      const seen: string[] = [];
      other.on("response", async (response) => seen.push(await response.text().catch(() => "")));

      await add(first, "Only for Ada");
      await soon(() => titles(second)).toEqual(["Only for Ada"]);
      await task(second, "Only for Ada").getByRole("checkbox").click();
      await soon(() => task(first, "Only for Ada").getByRole("checkbox").isChecked()).toBe(true);

      // A task of Eve proves that her window follows changes but shows none of Ada's.
      await add(other, "Only for Eve");
      await soon(() => titles(other)).toEqual(["Only for Eve"]);
      expect(seen.join()).not.toContain("Only for Ada");
      expect(await titles(first)).toEqual(["Only for Ada"]);
    });

    test("posts appear for everybody, also for who has not signed in; only the author may change them", async () => {
      const [author, visitor] = await Promise.all([app.page(), app.page()]);
      await Promise.all([goTo(visitor, "Board"), signUp(author, "Ada")]);
      await goTo(author, "Board");
      await author.getByText("Write a post").click();
      await author.getByLabel("Title", { exact: true }).fill("Open day");
      await author.getByLabel("Text").fill("Everybody is welcome.");
      await author.getByRole("button", { name: "Publish" }).click();
      const post = visitor.locator(".post", { hasText: "Open day" });
      await post.waitFor();
      expect(await post.getByRole("button").count()).toBe(0);
      await author.locator(".post", { hasText: "Open day" }).getByRole("button", { name: "Edit" }).waitFor();
    });

    test("whoever signs in next in the same window sees nothing of the one before", async () => {
      const page = await app.page();
      await signUp(page, "Ada");
      await add(page, "Only for Ada");
      await page.getByRole("button", { name: "Sign out" }).click();
      await signUp(page, "Eve");
      await page.getByText("Nothing to do yet.").waitFor();
      expect(await page.content()).not.toContain("Only for Ada");
    });
  });

  describe("when the connection goes", () => {
    test("offline, changes are shown; back online, they are stored, and what was missed is there", async () => {
      const [away, home] = await Promise.all([app.page(), app.page()]);
      const email = await signUp(away, "Ada");
      await signIn(home, email);
      await live(home);
      await add(away, "Pack");
      await away.context().setOffline(true);
      await task(away, "Pack").getByRole("checkbox").click();
      await soon(() => task(away, "Pack").getByRole("checkbox").isChecked()).toBe(true);
      await add(home, "Lock the door");

      await away.context().setOffline(false);
      await soon(() => titles(away)).toEqual(["Lock the door", "Pack"]);
      await soon(() => task(home, "Pack").getByRole("checkbox").isChecked()).toBe(true);
    });

    test("a restarted service is found again, and what happened meanwhile is shown", async () => {
      const page = await app.page();
      const email = await signUp(page, "Ada");
      await add(page, "Before");
      await app.stopService();
      await page.getByText("Reconnecting…").waitFor();
      await task(page, "Before").getByRole("checkbox").click();
      // It could not be stored: the tick is removed, and the page says why.
      await page.getByRole("alert").getByRole("button", { name: "Close" }).click();
      await soon(() => task(page, "Before").getByRole("checkbox").isChecked()).toBe(false);

      const insert = `insert into public.tasks (user_id, title) select id, 'Meanwhile' from auth."user" where email = $1`;
      await db.sql(insert, [email]);
      await app.startService();
      await soon(() => titles(page)).toEqual(["Meanwhile", "Before"]);
      await live(page);
    });
  });

  describe("for everybody", () => {
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
  });
}

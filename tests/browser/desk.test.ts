// If this file fails, the application that `npm start` shows does not work in a browser.
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { add, chromiumPath, deskApp, goTo, live, signIn, signUp, task, titles, whySkipped } from "./desk-app.ts";

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
}

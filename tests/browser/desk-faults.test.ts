// If this file fails, the desk loses what was typed or ticked when the service refuses it, is away or starts again.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { add, chromiumPath, deskApp, live, signIn, signUp, task, titles, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`the desk and faults: ${whySkipped}`);
} else {
  const db = database("platform");
  const app = deskApp(db);
  const soon = <T>(read: () => T) => expect.poll(read);

  test("is told what was wrong, and keeps what was typed", async () => {
    const page = await app.page();
    await signIn(page, "nobody@example.com", "wrong horse");
    await page.getByRole("alert").getByText("Invalid credentials").waitFor();
    expect(await page.getByLabel("Email").inputValue()).toBe("nobody@example.com");
  });

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

  test("a file that is chosen offline is uploaded back online", async () => {
    const page = await app.page();
    await signUp(page, "Ada");
    await add(page, "Pack");
    await task(page, "Pack").getByRole("button", { name: "Files" }).click();
    const files = task(page, "Pack").getByLabel("Add a file to Pack");
    await files.waitFor({ state: "attached" });
    await page.context().setOffline(true);
    const failed = page.waitForEvent("requestfailed");
    await files.setInputFiles([{ name: "list.txt", mimeType: "text/plain", buffer: Buffer.from("tent") }]);
    await failed;
    await page.context().setOffline(false);
    await task(page, "Pack").getByRole("link", { name: "list.txt" }).waitFor();
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
}

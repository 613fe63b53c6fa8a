// If this file fails, a user cannot attach a file to a task, see it, or remove it, with a phone or the keyboard.

import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { barriers, chromiumPath, deskApp, signUp, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`attachments in a browser: ${whySkipped}`);
} else {
  const db = database("platform");
  const app = deskApp(db);
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const picture = () =>
    sharp({ create: { width: 900, height: 700, channels: 3, background: "red", noise } })
      .png()
      .toBuffer();

  describe("a task's files", () => {
    test("are uploaded, shown as thumbnails and removed, on a phone and with the keyboard", async () => {
      const page = await app.page({ viewport: { width: 360, height: 740 } });
      await signUp(page, "Ada");
      await page.getByRole("textbox", { name: "New task" }).fill("Send the photo");
      await page.keyboard.press("Enter");
      const row = page.locator("li.task", { hasText: "Send the photo" });
      // Until the service has the task, its buttons are disabled.
      await page.locator('li.task[aria-busy="false"]', { hasText: "Send the photo" }).waitFor();
      const files = row.getByRole("button", { name: "Files" });
      await files.press("Enter");
      await expect.poll(() => files.getAttribute("aria-expanded")).toBe("true");
      await row
        .getByLabel("Add a file to Send the photo")
        .setInputFiles([{ name: "photo.png", mimeType: "image/png", buffer: await picture() }]);

      const thumbnail = row.locator("img");
      await thumbnail.waitFor();
      const size = () => thumbnail.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight]);
      await expect.poll(size).toEqual([128, 128]);
      const shown = await page.request.get(new URL((await thumbnail.getAttribute("src")) ?? "", app.url).href);
      expect(shown.headers()["content-type"]).toBe("image/webp");
      await row.getByRole("link", { name: "photo.png" }).waitFor();
      const excess = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(excess).toBe(0);
      expect(await barriers(page)).toEqual([]);

      const remove = row.locator(".attachments").getByRole("button", { name: "Remove" });
      await remove.press("Enter");
      await row.locator(".attachments").getByRole("button", { name: "Remove?" }).press("Enter");
      await thumbnail.waitFor({ state: "detached" });
      await expect.poll(() => db.sql("select 1 from svc.storage_objects")).toEqual([]);
    });

    test("can be paused and go on, and go with their task", async () => {
      const page = await app.page();
      await signUp(page, "Bob");
      await page.getByRole("textbox", { name: "New task" }).fill("Large");
      await page.keyboard.press("Enter");
      const row = page.locator("li.task", { hasText: "Large" });
      await row.getByRole("button", { name: "Files" }).click();
      // The service answers the second part slowly.
      let pieces = 0;
      let goOn = () => {};
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await page.route("**/api/storage/uploads/*", async (route) => {
        if (route.request().method() === "PATCH" && ++pieces === 2) await held;
        await route.continue().catch(() => {}); // it was given up meanwhile
      });
      await row
        .getByLabel("Add a file to Large")
        .setInputFiles([
          { name: "large.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(2_000_000, 7) },
        ]);
      await row.getByRole("button", { name: "Pause" }).click();
      await row.getByText("Paused at").waitFor();
      goOn();
      await row.getByRole("button", { name: "Resume" }).click();
      await row.getByRole("link", { name: "large.bin" }).waitFor();
      const [stored] = await db.sql("select size::int from svc.storage_objects");
      expect(stored).toEqual({ size: 2_000_000 });

      await row.locator(".actions").getByRole("button", { name: "Remove" }).click();
      await row.locator(".actions").getByRole("button", { name: "Remove?" }).click();
      await expect.poll(() => db.sql("select 1 from svc.storage_objects")).toEqual([]);
    });
  });
}

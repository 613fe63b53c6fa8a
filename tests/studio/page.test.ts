// If this file fails, an operator's browser does not show what Studio has, or shows more than it should.
import { readdir } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { pageFile } from "../../src/studio/page-files.ts";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { run, studioInBrowser } from "./browser-studio.ts";
import { page as folder } from "./test-studio.ts";

test("the whole page takes at most 60 kB of the network, and nothing from elsewhere", async () => {
  const names = (await readdir(folder)).filter((name) => name !== "types.ts");
  const files = await Promise.all(names.map((name) => pageFile(folder, name === "index.html" ? "/" : `/${name}`)));
  const texts = files.map((file) => file?.text ?? "");
  expect(texts.filter((text) => text === "")).toEqual([]);
  expect(texts.reduce((sum, text) => sum + gzipSync(text).length, 0)).toBeLessThan(60_000);
  expect(texts.filter((text) => /https?:\/\//.test(text))).toEqual([]);
});

if (!chromiumPath) {
  test.skip(`Studio in a browser: ${whySkipped}`);
} else {
  const { db, opened, tab, settled, newContext } = studioInBrowser();
  const cells = (page: Page) => page.locator("tbody tr td:nth-child(4)").allTextContents();

  test("the address loses its token, a reload stays signed in, and a second tab needs another address", async () => {
    const token = opened.token;
    const page = await tab();
    expect(page.url()).toBe(`${opened.origin}/`);
    await page.reload();
    await page.getByText("The disk is full.").waitFor();
    const other = await (await newContext()).newPage();
    await other.goto(`${opened.origin}/#${token}`);
    await other.getByRole("alert").getByText("This address was used already.").waitFor();
  });

  test("Data: a user's rows by pages, hidden ones as keys, and why; all in the address", async () => {
    const page = await tab("?panel=data");
    await page.getByRole("link", { name: "notes", exact: true }).click();
    await page.getByText("This viewer may not select from public.notes").waitFor();

    await page.getByLabel("View as").fill("ann@example.com");
    await page.keyboard.press("Enter");
    await page.getByText("Ann, ann@example.com").waitFor();
    await settled(page);
    expect(await page.locator("tbody tr").count()).toBe(50);
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: "First page" }).waitFor();
    await settled(page);
    expect(await page.locator("tbody tr").count()).toBe(12);

    await page.getByLabel("Show hidden rows").check();
    await page.locator(".ghost").first().waitFor();
    const hidden = page.getByRole("link", { name: "Why hidden: row 101", exact: true });
    await hidden.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This viewer does not see the row.").waitFor();
    await dialog.getByText("select: refused").waitFor();
    await dialog.getByText("no: select_owner").waitFor();
    const link = page.url();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).not.toContain("row=");
    expect(await dialog.count()).toBe(0);

    const shared = await tab(link.slice(opened.origin.length + 1));
    await shared.getByRole("dialog").getByText("select: refused").waitFor();
  });

  test("Data: a uuid names its row by its beginning, so that the other columns stay on the page", async () => {
    await db.sql(`insert into posts (id, user_id, title) values ('${run}', 'ann', 'Whole')`);
    const page = await tab("?panel=data&table=public.posts&as=ann");
    expect(await page.getByRole("link", { name: `Open row ${run}` }).textContent()).toBe("00000000");
  });

  test("Data: a filter, a cell that is cut, and markup that stays text", async () => {
    const page = await tab("?panel=data&table=public.notes&as=ann&column=id&operator=>&value=499");
    await page.getByRole("link", { name: "Open row 500" }).waitFor();
    expect((await cells(page))[0]).toContain("<img src=x onerror=");
    expect((await cells(page))[1]?.endsWith("…")).toBe(true);
    await page.getByRole("link", { name: "Open row 501" }).click();
    await page.getByRole("button", { name: "Show all of it" }).click();
    await page
      .getByRole("dialog")
      .getByText(/long end$/)
      .waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => page.url()).not.toContain("row=");
    await settled(page);
    await page.getByLabel("Value").fill("x");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("PostgreSQL refuses it").waitFor();
    expect(await page.title()).toContain("Studio");
  });

  test("in a narrow window the links scroll away, and leave room before", async () => {
    const page = await tab("?panel=data&table=public.notes&as=ann");
    await settled(page);
    await page.setViewportSize({ width: 320, height: 640 });
    expect((await page.getByRole("heading", { name: "public.notes" }).boundingBox())?.y).toBeLessThan(640);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await expect.poll(() => page.evaluate(() => document.elementFromPoint(20, 20)?.closest("header.top"))).toBeNull();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });

  test("an address names a viewer by id: no other user's name stands beside the rows", async () => {
    const page = await tab("?panel=data&table=public.notes&as=ann@example.com");
    await page.getByText("No user has this id.").waitFor();
    await settled(page);
    expect(await page.locator("tbody tr").count()).toBe(0);
  });

  test("no frame shows it", async () => {
    const context = await newContext();
    const page = await context.newPage();
    await page.route("http://frame.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<iframe src="${opened.origin}/#${opened.token}"></iframe>` }),
    );
    const token = opened.token;
    await page.goto("http://frame.example/");
    const frame = page.frames().find((one) => one !== page.mainFrame());
    expect(frame?.url()).toMatch(/^chrome-error:/);
    expect(opened.token).toBe(token);
  });
}

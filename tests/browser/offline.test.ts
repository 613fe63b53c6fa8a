// If this file fails, a page in a browser loses what its user did without a connection, or two tabs save it twice.
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { root } from "../support/global-setup.ts";
import { person } from "../support/offline-page.ts";
import { apiWith, TestService } from "../support/service.ts";
import { chromiumPath, openBrowser, whySkipped } from "./desk-app.ts";
import type { Acts } from "./offline-page/main.ts";

declare const acts: Acts;

if (!chromiumPath) {
  test.skip(`a page without a connection: ${whySkipped}`);
} else {
  const db = database();
  const origin = "http://localhost:4321"; // nobody listens there: the test answers
  const running = new TestService(db, apiWith(), { frontendOrigins: [origin] });
  const built = bytesFolder();
  const assets = new Map<string, string>();
  beforeAll(async () => {
    await running.start();
    const vite = join(root, "node_modules/.bin/vite");
    await promisify(execFile)(vite, ["build", join(root, "tests/browser/offline-page"), "--outDir", built]);
    for (const path of await readdir(built, { recursive: true })) {
      if (/\.\w+$/.test(path)) assets.set(`/${path}`, await readFile(join(built, path), "utf8"));
    }
  });
  afterAll(() => running.stop());

  const stored = async (user: string) =>
    (await db.sql("select title from notes where user_id = $1 order by id", [user])).map(({ title }) => title);
  const titles = (page: Page) => page.locator("li").allTextContents();
  const shown = (page: Page) => expect.poll(async () => (await titles(page)).sort());
  const pending = (page: Page) => expect.poll(() => page.evaluate(() => acts.pending()));
  const signUp = (page: Page) => page.evaluate(async (who) => (await acts.auth.signUp(...who)).id, person());
  const add = (page: Page, title: string) => page.evaluate((text) => acts.add(text), title);

  async function device(): Promise<BrowserContext> {
    const context = await (await openBrowser()).newContext();
    onTestFinished(() => context.close());
    // A page that the test answers counts as one of the internet.
    await context.grantPermissions(["local-network-access"], { origin });
    await context.route(`${origin}/**`, (route) => {
      const { pathname } = new URL(route.request().url());
      const body = assets.get(pathname === "/" ? "/index.html" : pathname);
      const contentType = pathname.endsWith(".js") ? "text/javascript" : "text/html";
      return body === undefined ? route.fulfill({ status: 404 }) : route.fulfill({ body, contentType });
    });
    return context;
  }
  async function tab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    page.on("pageerror", (error) => expect.unreachable(error.stack ?? error.message));
    await page.goto(`${origin}/?service=${running.url}`);
    return page;
  }

  test("what is done offline survives a reload, and is saved once when the network and the service are back", async () => {
    const context = await device();
    const page = await tab(context);
    const id = await signUp(page);
    await add(page, "online");
    await shown(page).toEqual(["online"]);
    await pending(page).toBe(0);

    await context.setOffline(true);
    await add(page, "offline");
    await page.evaluate(() => acts.rename("offline", "offline, changed"));
    await page.evaluate(() => acts.rename("online", "online, changed"));
    await page.reload();
    await shown(page).toEqual(["offline, changed", "online, changed"]);
    await pending(page).toBe(3);
    expect(await stored(id)).toEqual(["online"]);

    const { port } = new URL(running.url);
    await running.stop();
    await context.setOffline(false);
    await add(page, "without a service");
    await running.start(Number(port));
    await pending(page).toBe(0);
    expect(await stored(id)).toEqual(["online, changed", "offline, changed", "without a service"]);
    await shown(page).toEqual(["offline, changed", "online, changed", "without a service"]);
    expect(await page.evaluate(() => acts.refused())).toEqual([]);
  });

  test("two tabs save each mutation once, and both show it", async () => {
    const context = await device();
    const [one, two] = [await tab(context), await tab(context)];
    const id = await signUp(one);
    await expect.poll(() => two.evaluate(() => acts.auth.getState().user?.id)).toBe(id);
    await context.setOffline(true);
    const all = Array.from({ length: 10 }, (_, at) => `note ${at}`);
    for (const [at, title] of all.entries()) await add(at % 2 ? one : two, title);
    for (const page of [one, two]) await shown(page).toEqual(all);
    await context.setOffline(false);
    for (const page of [one, two]) await pending(page).toBe(0);
    expect(await stored(id)).toEqual(all);
    for (const page of [one, two]) await shown(page).toEqual(all);
  });

  test("a tab that is closed while it sends leaves what waits to the other one", async () => {
    const context = await device();
    const [one, two] = [await tab(context), await tab(context)];
    const id = await signUp(one);
    await expect.poll(() => two.evaluate(() => acts.auth.getState().user?.id)).toBe(id);
    for (const page of [one, two]) await expect.poll(() => page.evaluate(() => acts.status())).toBe("live");
    await add(two, "first");
    for (const page of [one, two]) await pending(page).toBe(0);
    const { promise: isSent, resolve: sent } = Promise.withResolvers<Page>();
    const mutations = "**/api/mutation";
    for (const page of [one, two]) await page.route(mutations, () => sent(page)); // and no answer comes
    for (const title of ["a", "b"]) await add(one, title);
    for (const page of [one, two]) await shown(page).toEqual(["a", "b", "first"]);
    const sender = await isSent; // either may be the one that sends
    const other = sender === one ? two : one;
    await other.unroute(mutations);
    await sender.close();
    await expect.poll(() => stored(id)).toEqual(["first", "a", "b"]);
    await pending(other).toBe(0);
    await shown(other).toEqual(["a", "b", "first"]);
  });

  test("what is refused is taken back, and a conflict shows the service's row", async () => {
    const context = await device();
    const page = await tab(context);
    const id = await signUp(page);
    await add(page, "ours");
    await pending(page).toBe(0);
    await shown(page).toEqual(["ours"]);
    await context.setOffline(true);
    await add(page, "bad\0");
    await page.evaluate(() => acts.rename("ours", "mine"));
    await add(page, "good");
    await db.sql("update notes set title = 'theirs', updated_at = now() + interval '1 s' where user_id = $1", [id]);
    await context.setOffline(false);
    await shown(page).toEqual(["good", "theirs"]);
    await expect
      .poll(() => page.evaluate(() => acts.refused()))
      .toMatchObject([
        { title: "bad\0", code: "VALIDATION_FAILED" },
        { title: "mine", code: "CONFLICT", current: { title: "theirs" } },
      ]);
    await expect.poll(() => stored(id)).toEqual(["theirs", "good"]);
  });

  test("after a sign-out in one tab no tab shows anything, and the next user gets and sends nothing of the one before", async () => {
    const context = await device();
    const [one, two] = [await tab(context), await tab(context)];
    const id = await signUp(one);
    await add(one, "of Ann");
    for (const page of [one, two]) await shown(page).toEqual(["of Ann"]);
    await pending(one).toBe(0);
    await context.setOffline(true);
    await add(one, "waits");
    await shown(two).toEqual(["of Ann", "waits"]);
    await one.evaluate(() => acts.auth.signOut().catch(() => {}));
    for (const page of [one, two]) await shown(page).toEqual([]);
    await two.reload();
    expect(await titles(two)).toEqual([]);
    await context.setOffline(false);
    const bob = await signUp(two);
    await add(two, "of Bob");
    await expect.poll(() => stored(bob)).toEqual(["of Bob"]);
    for (const page of [one, two]) await shown(page).toEqual(["of Bob"]);
    expect(await stored(id)).toEqual(["of Ann"]);
  });
}

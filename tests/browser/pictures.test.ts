/**
 * Makes the pictures in README.md and docs/ from the running desk, with `npm run pictures`. Otherwise skipped: it tests
 * nothing, and is here because it shares code with the tests of the desk.
 */
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { beforeAll, expect, test } from "vitest";
import { studio } from "../studio/test-studio.ts";
import { svc } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { add, chromiumPath, desk, deskApp, goTo, signIn, signUp, task } from "./desk-app.ts";

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

const pane = { width: 560, height: 460 };
const terminal = 96;

/** One frame: both pages, and psql beneath. */
async function frame(pages: Page[], lines: string[]): Promise<Buffer> {
  for (const page of pages) {
    await page.locator(".toast").evaluateAll((toasts) => {
      for (const toast of toasts as HTMLElement[]) toast.style.visibility = "hidden";
    });
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  }
  const shots = await Promise.all(pages.map((page) => page.screenshot({ animations: "disabled", scale: "css" })));
  const text = lines.map(
    (line, at) => `<text x="16" y="${30 + 24 * at}">${line.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`,
  );
  const psql = `<svg xmlns="http://www.w3.org/2000/svg" width="${2 * pane.width}" height="${terminal}">
    <rect width="100%" height="100%" fill="#10141c"/>
    <g font-family="monospace" font-size="15" fill="#d7e0ee" xml:space="preserve">${text.join("")}</g></svg>`;
  const canvas = { width: 2 * pane.width, height: pane.height + terminal, channels: 3 as const, background: "#10141c" };
  return sharp({ create: canvas })
    .composite([
      ...shots.map((input, at) => ({ input, left: at * (pane.width + 1), top: 0 })),
      { input: Buffer.from(psql), left: 0, top: pane.height },
    ])
    .png()
    .toBuffer();
}

/** Ada files one, Bob approves it. */
async function expense(ada: Page, bob: Page): Promise<void> {
  await goTo(ada, "Expenses");
  await ada.getByLabel("What it was for").fill("Train to Busan");
  await ada.getByLabel("Amount").fill("120.50");
  await ada.keyboard.press("Enter");
  await ada.locator(".timeline").getByText("Waiting for a colleague").waitFor();
  await goTo(bob, "Expenses");
  const own = bob.locator("li", { hasText: "Train to Busan" });
  await own.getByRole("button", { name: "Approve" }).first().click();
  await ada.locator(".timeline").getByText("Paid").waitFor();
}

/** Two people and psql on one table. */
async function moving(ada: Page, bob: Page): Promise<void> {
  const pages = [ada, bob];
  for (const page of pages) {
    await page.setViewportSize({ ...pane, width: pane.width - 1 });
    await goTo(page, "Board");
  }
  const shown = (title: string) => Promise.all(pages.map((page) => page.getByText(title, { exact: true }).waitFor()));
  const write = async (page: Page, title: string) => {
    await page.getByText("Write a post").click();
    await page.getByLabel("Title").fill(title);
    await page.keyboard.press("Enter");
    await shown(title);
  };
  const prompt = "desk=# ";
  const update = "update posts set title = 'Lunch at one' where title = 'Lunch at noon';";
  await write(bob, "The printer works again");
  const frames = [await frame(pages, [prompt])];
  await write(ada, "Lunch at noon");
  frames.push(await frame(pages, [prompt]), await frame(pages, [prompt + update]));
  await db.sql(update);
  await shown("Lunch at one");
  frames.push(await frame(pages, [prompt + update, "UPDATE 1"]));
  const picture = sharp(frames, { join: { animated: true } }).webp({ quality: 60, effort: 6, loop: 0 });
  await picture.webp({ delay: [1500, 2000, 1500, 3000] }).toFile(join(root, "docs/pictures/live.webp"));
}

const db = database("platform");
if (!process.env.PICTURES || !chromiumPath) {
  test.skip("the pictures of the documentation: `npm run pictures`, with Chromium");
} else {
  const app = deskApp(db);
  const opened = studio(db);
  beforeAll(() => app.startWorker());

  test("the pictures of the documentation", { timeout: 300_000 }, async () => {
    const ada = await app.page(wide);
    const email = await signUp(ada, "Ada");
    for (const title of ["Order paper", "Write to the printers", "Answer the customer in Busan"]) await add(ada, title);
    await task(ada, "Answer the customer").getByLabel("Priority").selectOption("Urgent");
    await task(ada, "Order paper").getByRole("checkbox").click();
    await ada.getByText("2 open").waitFor();

    const onPhone = await app.page(phone);
    await signIn(onPhone, email);
    await task(onPhone, "Answer the customer").waitFor();
    await save(onPhone, "phone");

    const bob = await app.page(wide);
    await signUp(bob, "Bob");
    await expense(ada, bob);
    await save(ada, "workflow");

    await goTo(ada, "Docs", "Ask the docs");
    await ada.getByText(/^\d+ documents$/).waitFor();
    await ada.getByRole("searchbox").fill("A transaction that rolls back never sends events.");
    await ada.keyboard.press("Enter");
    await ada.getByText("The documents say so.").waitFor();
    await ada.getByText("Realtime › Who is notified").first().click();
    await ada.locator("mark", { hasText: "A transaction that rolls back" }).first().waitFor();
    await save(ada, "answer");

    await moving(ada, bob);
  });

  test("the pictures of Studio", async () => {
    const [ada, bob] = [await app.page(wide), await app.page(wide)];
    const email = await signUp(ada, "Ada");
    await signUp(bob, "Bob");
    for (const title of ["Order paper", "Write to the printers"]) await add(ada, title);
    for (const title of ["Book the train", "Call the landlord"]) await add(bob, title);
    await add(ada, "Answer the customer in Busan");
    await expense(ada, bob);

    const commands: string[][] = [["doctor"], ["migrate", "status"]];
    for (const words of commands) {
      const { out } = await svc(db, desk, [...words, "--json"]).ended;
      opened.commands[words.join(" ")] = JSON.parse(out);
    }
    // What is true of the tests' server and of no other.
    const { findings } = opened.commands.doctor as { findings: { text: string }[] };
    opened.commands.doctor = { findings: findings.filter(({ text }) => !/fsync|other databases|svc_test_/.test(text)) };
    await db.sql("update auth.\"user\" set email = 'ada@example.com' where email = $1", [email]);
    const [user] = await db.sql("select id from auth.\"user\" where email = 'ada@example.com'");
    await db.sql(`select graphile_worker.add_job('procedure', json_build_object('procedure', p), max_attempts => 1,
      run_at => now() + interval '1 day') from unnest('{expenses.remind,board.digest}'::text[]) p`);
    await db.sql(
      "update graphile_worker._private_jobs set attempts = 1, last_error = 'no such mailbox' where max_attempts = 1",
    );
    const [job] = await db.sql("select id from graphile_worker._private_jobs where max_attempts = 1");
    await opened.ask("act", { act: "act_cancel_job", id: job?.id });
    const page = await app.page(wide);
    const open = async (search: string) => {
      await page.goto(`${opened.origin}/${search}#${opened.token}`);
      await page.locator("h1").waitFor();
      await expect.poll(() => page.locator("[aria-busy]").count()).toBe(0);
    };
    await open("");
    await save(page, "studio-home");
    await open(`?panel=data&table=public.tasks&as=${user?.id}&ghosts=1`);
    await page.locator(".ghost").first().waitFor();
    await save(page, "studio-data");
    const [run] = await db.sql("select id from svc.workflow_runs order by created_at desc limit 1");
    await open(`?panel=workflows&run=${run?.id}`);
    await page.getByRole("table", { name: "Steps" }).waitFor();
    await save(page, "studio-workflow");
  });
}

// If this file fails, an operator cannot look at jobs, runs, people, policies and the other panels of Studio, or act there.
import { expect, test } from "vitest";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { studioInBrowser } from "./browser-studio.ts";

if (!chromiumPath) {
  test.skip(`the panels of Studio in a browser: ${whySkipped}`);
} else {
  const { db, tab, settled } = studioInBrowser();

  test("Home: findings, pending migrations, and numbers that lead to what they count; a retry leaves its line", async () => {
    const page = await tab();
    await page.getByText("The disk is full.").waitFor();
    await page.getByText("None yet.").waitFor();
    await page.getByRole("link", { name: "1 failed, the latest is send" }).click();
    await page.getByRole("heading", { name: "Workflows" }).waitFor();
    await page.getByRole("link", { name: "ann@example.com" }).waitFor();
    await page.getByRole("link", { name: "00000000" }).click();
    await page.getByRole("link", { name: "ann@example.com" }).waitFor();
    expect(await page.getByRole("row").nth(2).getByRole("cell").nth(4).textContent()).toBe("3");
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByRole("link", { name: "1 not applied" }).click();
    await page.getByText("0002_add.sql").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "1 dead" }).click();
    await page.getByText("out of paper").waitFor();
    await page.getByRole("button", { name: "Retry job" }).press("Enter");
    await page.getByText("No job is dead.").waitFor();
    await page.getByRole("link", { name: "1 due" }).click();
    await page.getByRole("cell", { name: "notes.sweep" }).waitFor();
    expect(page.url()).toContain("state=due");
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByRole("cell", { name: "act_retry_job" }).waitFor();
  });

  test("Jobs: finished ones, filtered by links, by pages, in the address", async () => {
    await db.sql(
      `insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at)
         select n, 'procedure', case when n = 7 then '<b>slow</b>' else 'notes.sweep' end,
                case n when 7 then 'dead' else 'done' end, 1, now(), now(), now() + case n when 7 then 20 else 0 end * interval '1 s'
           from generate_series(1, 60) n`,
    );
    const page = await tab("?panel=jobs");
    await page.getByRole("link", { name: "finished" }).press("Enter");
    await page.getByRole("link", { name: "Older" }).press("Enter");
    await page.getByRole("link", { name: "Newest" }).waitFor();
    await settled(page);
    expect(await page.locator("tbody tr").count()).toBe(10);
    await page.getByRole("link", { name: "10 s or longer" }).press("Enter");
    await page.getByRole("link", { name: "<b>slow</b>" }).press("Enter");
    await page.getByText("Only <b>slow</b>.").waitFor();
    await page.getByRole("link", { name: "dead", exact: true }).press("Enter");
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      panel: "jobs",
      state: "finished",
      least: "10000",
      name: "<b>slow</b>",
      outcome: "dead",
    });
    await page.getByRole("link", { name: /^\d due$/ }).press("Enter");
    await page
      .getByText("No job is due.")
      .or(page.getByRole("table", { name: "Jobs that are due" }))
      .waitFor();
    expect(new URL(page.url()).search).toBe("?panel=jobs&state=due");
  });

  test("Webhooks: a dead delivery is sent again; Audit: the history of a row, with its values for who sees it", async () => {
    const page = await tab("?panel=webhooks");
    await page.getByText("The receiver answered 500. <b>").waitFor();
    await page.getByRole("link", { name: "note.done", exact: true }).press("Enter");
    await page.getByText("Only note.done.").waitFor();
    await page.getByRole("button", { name: /^Retry delivery/ }).press("Enter");
    await page.getByText("No delivery is dead.").waitFor();
    await page.getByRole("link", { name: "2 pending" }).press("Enter");
    await page.getByText("connect ECONNREFUSED").waitFor();
    expect(new URL(page.url()).search).toBe("?panel=webhooks&webhook=note.done&state=pending");
    expect((await db.sql("select act from svc.operator_acts order by id desc limit 1"))[0]?.act).toBe(
      "act_retry_deliveries",
    );

    await db.sql(`begin; select set_config('svc.request_id', 'r1', true), set_config('svc.user_id', 'ann', true);
      update notes set title = '<i>new</i>', priority = 7 where id = 2; commit`);
    await page.goto(page.url().replace(/\?.*/, '?panel=data&table=public.notes&as=ann&row=["2"]'));
    await page.getByRole("link", { name: "Its history" }).press("Enter");
    await page.getByText("note 2 → <i>new</i>").waitFor();
    await page.getByText("not kept").first().waitFor();
    expect(await page.title()).toContain("public.notes · Audit");
    await page.getByLabel("View as").fill("ben");
    await page.keyboard.press("Enter");
    await page.getByText("values are not shown").waitFor();
    expect(await page.getByText("note 2").count()).toBe(0);
    await page.getByRole("link", { name: "r1" }).press("Enter");
    await page.getByRole("heading", { name: "Trace" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "All rows of public.notes" }).press("Enter");
    await page.getByRole("link", { name: "Older" }).press("Enter");
    await page.getByRole("link", { name: "Newest" }).waitFor();
    await settled(page);
  });

  test("the other panels, by keyboard: from the palette to an act, with their state in the address", async () => {
    const page = await tab();
    /** By the palette. */
    const to = async (words: string, heading: string) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(words);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: heading, exact: true }).waitFor();
      await settled(page);
    };
    const press = (name: string) => page.getByRole("button", { name, exact: true }).press("Enter");
    const said = (text: string) => page.getByText(text).first().waitFor();

    await to("workflows", "Workflows");
    await page.getByRole("link", { name: "failed", exact: true }).press("Enter");
    await page.getByRole("link", { name: "00000000" }).press("Enter");
    await said("render");
    expect(page.url()).toContain("run=00000000-0000-4000-8000-000000000001");
    await press("Retry from here 2, mail");
    await press("Retry from here: sure? 2, mail");
    await page.getByLabel("Send an event").fill("go");
    await page.getByLabel("with the JSON").fill("{");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("with the JSON").fill("{}");
    await page.keyboard.press("Enter");
    await page.getByRole("cell", { name: "go", exact: true }).waitFor();

    await to("crons", "Crons");
    await press("Pause notes.nightly");
    await said("paused since");
    await press("Resume notes.nightly");
    await page.getByRole("button", { name: "Pause notes.nightly", exact: true }).waitFor(); // the panel is made anew
    await press("Run now notes.nightly");

    await to("people", "People");
    await page.getByLabel("E-mail address begins with, or id").fill("ann");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "ann@example.com" }).press("Enter");
    await said("<b>browser</b>");
    await press("Verify ann@example.com");
    await press("Verify: sure? ann@example.com");
    await said("ann@example.com, verified");
    await page.getByRole("button", { name: /^End the session/ }).press("Enter");
    await page.getByRole("button", { name: /: sure\?/ }).press("Enter");
    await said("Signed in nowhere.");
    await page.getByRole("link", { name: "SQL as this user" }).press("Enter");

    await page.getByLabel("Statement", { exact: true }).fill("select title from notes where id = 500");
    await page.keyboard.press("Control+Enter");
    await said("<img src=x onerror=");
    await page.getByLabel("Statement", { exact: true }).press("Control+Shift+Enter");
    await said("Scan"); // which one depends on what the server knows of the table
    await page.getByLabel("Statement", { exact: true }).fill("delete from notes");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").getByText("This panel reads").waitFor();

    await to("requests", "Requests");
    await page.getByRole("link", { name: /^Trace of POST notes.create/ }).press("Enter");
    await said("insert notes");
    expect(page.url()).toContain("trace=");
    await page.locator("summary").click();
    await said("insert into notes <b>");
    await to("mailbox", "Mailbox");
    await said("ann@example.com");

    await to("storage", "Storage");
    await said("Nothing is stored yet.");
    await to("realtime", "Realtime");
    await said("public.notes");
    await press("Ask the processes");
    await said("No process answered.");
    await to("search", "Search lab");
    await page.getByLabel("for", { exact: true }).fill("milk");
    await page.keyboard.press("Enter");
    await said("0 rows among those that are public");
    await to("AI", "AI");
    await said("No call in these days.");
    await to("DBA", "DBA");
    await said("missing_index");
    await to("migrations", "Migrations and backups");
    await said("None by svc is known.");
    const acts = await db.sql<{ act: string }>("select act from svc.operator_acts order by id");
    expect(acts.map(({ act }) => act)).toEqual([
      "act_retry_job",
      "act_retry_deliveries",
      "act_retry_workflow",
      "act_signal_workflow",
      "act_pause_cron",
      "act_pause_cron",
      "act_run_cron",
      "act_verify_email",
      "act_end_sessions",
    ]);
    expect(await page.title()).toContain("Studio");
  });

  test("People: a user's keys are revoked, and an organization gets another owner", async () => {
    const page = await tab("?panel=people&user=ben");
    const press = (name: string) => page.getByRole("button", { name, exact: true }).press("Enter");
    await page.getByRole("link", { name: "Next page" }).press("Enter");
    await page.getByRole("link", { name: "First page" }).waitFor();
    await settled(page);
    await press("Revoke the key acme_live_1");
    await press("Revoke: sure? the key acme_live_1");
    await expect.poll(() => db.sql("select 1 from auth.api_key where id = 'k1'")).toEqual([]);
    await page.getByRole("link", { name: "<i>Acme</i> 1", exact: true }).press("Enter");
    await page.getByText("guest@example.com").waitFor();
    await press("Make owner ben@example.com");
    await press("Make owner: sure? ben@example.com");
    const members = page.getByRole("region", { name: "Members, the newest first" });
    await expect.poll(() => members.getByRole("cell", { name: "owner", exact: true }).count()).toBe(2);
    await press("Cancel of guest@example.com");
    await press("Cancel: sure? of guest@example.com");
    await page.getByRole("cell", { name: "canceled" }).waitFor();
    await press("Remove ann@example.com");
    await press("Remove: sure? ann@example.com");
    await expect.poll(() => members.locator("tbody tr").count()).toBe(1);
    await settled(page);
    await press("Remove ben@example.com");
    await press("Remove: sure? ben@example.com");
    await page.getByRole("alert").getByText("needs an owner").waitFor();
    await page.getByRole("link", { name: "All organizations" }).press("Enter");
    await page.getByRole("link", { name: "Next page" }).press("Enter");
    await page.getByRole("link", { name: "First page" }).waitFor();
    await page.getByLabel("Name begins with, or id").fill("<I>acme</i> 12");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "First page" }).waitFor({ state: "detached" });
    await settled(page);
    expect(await page.locator("tbody tr").count()).toBe(1);
    expect(new URL(page.url()).search).toBe("?panel=people&list=organizations&search=%3CI%3Eacme%3C%2Fi%3E+12");
  });

  test("Policies: each role, command and table in words and as SQL", async () => {
    const page = await tab("?panel=policies");
    await page.getByRole("link", { name: "public.notes" }).click();
    await page.getByRole("heading", { name: "Signed-in users: select" }).waitFor();
    await page.getByText("Signed-in users may select rows where").waitFor();
    await page.getByText("As SQL").nth(4).click();
    await page.getByText('create policy "select_owner" on public.notes').waitFor();
    await page.getByRole("link", { name: "Look at its rows" }).click();
    await page.getByLabel("View as").waitFor();
  });

  test("the keyboard alone reaches a table by the palette, and every panel", async () => {
    const page = await tab();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("rows notes");
    await page.getByRole("option", { name: "Rows of public.notes" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "public.notes" }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    await page.keyboard.press("Control+k");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Policies", exact: true }).waitFor();
  });

  test("Run: by keyboard, from the palette to what the call would do; nothing runs before the press", async () => {
    const page = await tab();
    const calls: string[] = [];
    page.on("request", (request) => calls.push(request.url().split("/api/")[1] ?? ""));
    await page.keyboard.press("Control+k");
    await page.keyboard.type("run");
    await page.keyboard.press("Enter");
    await page.getByLabel("View as").fill("ann");
    await page.keyboard.press("Enter");
    await page.getByText("Ann, ann@example.com").waitFor();
    await settled(page);
    await page.getByLabel("Operation", { exact: true }).selectOption("notes.create");
    await page.getByRole("button", { name: "Choose" }).press("Enter");
    await page.getByText("It cannot undo what a handler does by other means").waitFor();
    await page.getByLabel("title *").fill("<img src=x onerror=\"document.title='owned'\">");
    await page.getByLabel("priority").fill("2");
    expect(calls).not.toContain("dryRun");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "It would succeed" }).waitFor();
    await page.getByText("fetch POST http://mail.example/<b>").waitFor();
    await page.getByRole("cell", { name: "public.notes" }).waitFor();
    await page.getByText("notes.sweep, due").waitFor();
    expect(await page.getByLabel("Answer").textContent()).toContain("<img src=x onerror");
    expect(await page.title()).toBe("Run · Studio");
    calls.length = 0;
    await page.reload();
    await page.getByLabel("title *").waitFor();
    expect(await page.getByLabel("priority").inputValue()).toBe("2");
    expect(calls).not.toContain("dryRun");
    await page.getByLabel("Arguments as JSON").fill("{");
    await page.getByRole("button", { name: "Dry run" }).press("Enter");
    await page.getByRole("alert").waitFor();
  });
}

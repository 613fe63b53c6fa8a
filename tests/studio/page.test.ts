// If this file fails, an operator's browser does not show Studio, shows more than it should, or runs foreign scripts.
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { pageFile } from "../../src/studio/page-files.ts";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { database } from "../support/database.ts";
import { page as folder, studio } from "./test-studio.ts";

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
  const db = database();
  const opened = studio(db);
  const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  const complaints: string[] = [];
  const run = "00000000-0000-4000-8000-000000000001";
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
    await db.sql(`insert into auth."user" (id, name, email) values
      ('ann', 'Ann', 'ann@example.com'), ('ben', 'Ben', 'ben@example.com')`);
    await db.sql(`insert into notes (user_id, title) select case when i % 2 = 0 then 'ann' else 'ben' end, 'note ' || i
      from generate_series(1, 120) i`);
    await db.sql("insert into notes (id, user_id, title) values (500, 'ann', $1)", [
      `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
    ]);
    await db.sql("insert into notes (id, user_id, title) values (501, 'ann', repeat('long ', 200) || 'end')");
    await db.sql(`select graphile_worker.add_job('procedure', '{"procedure":"notes.sweep"}'::json, max_attempts => 1)`);
    await db.sql("update graphile_worker._private_jobs set attempts = 1, last_error = 'out of paper'");
    await db.sql(`insert into auth.session (id, user_id, token, expires_at, user_agent)
      values ('s', 'ann', 't', now() + interval '1 day', '<b>browser</b>')`);
    await db.sql(`insert into svc.workflow_runs (id, name, version, args, status, user_id, error)
      values ('${run}', 'send', 1, '{}', 'failed', 'ann', '{"code":"INTERNAL","message":"no mail"}')`);
    await db.sql(`insert into svc.workflow_steps (run_id, position, kind, name, is_done, error, finished_at)
      values ('${run}', '1', 'step', 'render', true, null, now()), ('${run}', '2', 'step', 'mail', true, '{}', now())`);
    await db.sql(`insert into svc_private.crons (name, schedule, anchor, last_slot)
      values ('notes.nightly', '0 3 * * *', now(), now())`);
    opened.commands["crons list"] = [{ name: "notes.nightly", schedule: "0 3 * * *", procedure: "notes.sweep" }];
    const span = { traceId: "t1", began: Date.now(), ms: 5, failed: null, attributes: {} };
    const http = { "http.response.status_code": 200, "svc.request_id": "r1", "svc.operation": "notes.create" };
    const db1 = { "db.system.name": "postgresql", "db.query.text": "insert into notes <b>" };
    const call = { ...span, spanId: "1", parentId: null, name: "POST notes.create", kind: "server" } as const;
    const query = { ...span, spanId: "2", parentId: "1", name: "insert notes", kind: "client" } as const;
    opened.observations.take({ span: { ...query, began: span.began + 1, ms: 3, attributes: db1 } });
    opened.observations.take({ span: { ...call, attributes: http } });
    opened.observations.take({
      mail: {
        kind: "verification",
        email: "ann@example.com",
        url: "http://localhost/verify",
        at: new Date().toISOString(),
      },
    });
    opened.commands["db lint"] = [
      { rule: "missing_index", object: "public.notes", level: "advice", bytes: 5, more: null },
    ];
    opened.commands.doctor = {
      findings: [
        { kind: "ok", text: "Node 24" },
        { kind: "wrong", text: "The disk is full.\n  Make room." },
        { kind: "advice", text: "AUTHLIB_URL is not set." },
      ],
    };
    opened.commands["migrate status"] = [
      { path: "application/migrations/0002_add.sql", state: "pending", appliedAt: null },
      { path: "application/migrations/0001_init.sql", state: "applied", appliedAt: "2026-01-01T00:00:00.000Z" },
    ];
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(complaints.splice(0)).toEqual([]);
  });

  /** A tab that has redeemed the newest address. */
  async function tab(search = "", scheme: "light" | "dark" = "light"): Promise<Page> {
    const context = await browser.newContext({
      locale: "en-GB",
      colorScheme: scheme,
      viewport: { width: 1200, height: 800 },
    });
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML/i.test(message.text())) complaints.push(message.text());
    });
    await page.goto(`${opened.origin}/${search}#${opened.token}`);
    await page.locator("h1").waitFor();
    return page;
  }

  /** Waits until nothing is loading. */
  const settled = (page: Page) => expect.poll(() => page.locator("[aria-busy]").count()).toBe(0);
  const cells = (page: Page) => page.locator("tbody tr td:nth-child(4)").allTextContents();

  test("the address loses its token, a reload stays signed in, and a second tab needs another address", async () => {
    const token = opened.token;
    const page = await tab();
    expect(page.url()).toBe(`${opened.origin}/`);
    await page.reload();
    await page.getByText("The disk is full.").waitFor();
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${opened.origin}/#${token}`);
    await other.getByRole("alert").getByText("This address was used already.").waitFor();
  });

  test("Home: findings, pending migrations, and numbers that lead to what they count; a retry leaves its line", async () => {
    const page = await tab();
    await page.getByText("The disk is full.").waitFor();
    await page.getByText("None yet.").waitFor();
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
    await said("Index");
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
    await to("search", "Search lab");
    await page.getByLabel("for", { exact: true }).fill("milk");
    await page.keyboard.press("Enter");
    await said("0 rows among those that are public");
    await to("AI", "AI");
    await said("No call in these days.");
    await to("DBA", "DBA");
    await said("missing_index");
    await to("migrations", "Migrations and backups");
    await said("svc keeps no list of backups.");
    const acts = await db.sql<{ act: string }>("select act from svc.operator_acts order by id");
    expect(acts.map(({ act }) => act)).toEqual([
      "act_retry_job",
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
    await page.getByLabel("Value").fill("x");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("PostgreSQL refuses it").waitFor();
    expect(await page.title()).toContain("Studio");
  });

  test("Policies: each role, command and table in words and as SQL", async () => {
    const page = await tab("?panel=policies");
    await page.getByRole("link", { name: "public.notes" }).click();
    await page.getByRole("heading", { name: "Signed-in users: select" }).waitFor();
    await page.getByText("Signed-in users may select rows where").waitFor();
    await page.getByText("As SQL").nth(4).click();
    await page.getByText("create policy select_owner on public.notes").waitFor();
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

  const places = [
    "",
    "?panel=data",
    "?panel=data&table=public.notes&as=ann&ghosts=1",
    '?panel=data&table=public.notes&as=ann&ghosts=1&row=["1"]',
    "?panel=policies",
    "?panel=policies&table=public.notes",
    "?panel=workflows",
    `?panel=workflows&run=${run}`,
    "?panel=jobs&state=due",
    "?panel=crons",
    "?panel=people",
    "?panel=people&user=ann",
    "?panel=sql&as=ann&sql=select 1 as one, null as two",
    "?panel=requests",
    "?panel=requests&trace=t1",
    "?panel=mailbox",
    "?panel=storage",
    "?panel=realtime",
    "?panel=search&table=public.pages&query=milk",
    "?panel=ai",
    "?panel=dba",
    "?panel=migrations",
    "palette",
  ];
  test.each(["light", "dark"] as const)("axe finds nothing in the %s scheme, on any panel", async (scheme) => {
    const page = await tab("", scheme);
    await page.evaluate(await readFile(axe, "utf8"));
    for (const place of places) {
      // As a link of the page does; loading it anew for each place takes most of the time.
      await page.evaluate(
        (address) => {
          history.pushState(null, "", address);
          dispatchEvent(new PopStateEvent("popstate"));
        },
        `/${place === "palette" ? "" : place}`,
      );
      await settled(page);
      if (place === "palette") {
        await page.keyboard.press("Control+k");
        await page.getByRole("option", { name: "Home" }).waitFor();
      }
      const found = await page.evaluate(async (scheme) => {
        // biome-ignore lint/suspicious/noExplicitAny: axe adds itself to the page
        const { violations } = await (globalThis as any).axe.run(
          scheme === "dark" ? { runOnly: ["color-contrast"] } : {},
        );
        return violations.map(
          ({ id, nodes }: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
            `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")}`,
        );
      }, scheme);
      expect([place, found]).toEqual([place, []]);
    }
  });

  const clicks = Number(process.env.CLICKS ?? 40);
  test("random clicks find no error, and each act leaves one line", { timeout: 60_000 + clicks * 500 }, async () => {
    const seed = Number(process.env.CLICK_SEED ?? Date.now() % 1e6);
    let state = seed;
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    const lines = async () => Number((await db.sql("select count(*)::integer as n from svc.operator_acts"))[0]?.n);
    const before = await lines();
    const page = await tab();
    const failed: string[] = [];
    let acts = 0;
    let waiting = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/api/act")) waiting++;
    });
    page.on("response", (response) => {
      if (response.url().endsWith("/api/act")) waiting--;
      if (response.status() >= 500) failed.push(`${response.url()} ${response.status()}`);
      if (response.url().endsWith("/api/act") && response.ok()) acts++;
    });
    for (let i = 0; i < clicks; i++) {
      await page.evaluate((part) => {
        // An open dialog hides the rest.
        const within = document.querySelector("dialog[open]") ?? document;
        const all = [...within.querySelectorAll<HTMLElement>("a:not([target]), button, summary, [role=option]")];
        all[Math.floor(part * all.length)]?.click();
      }, random());
      await settled(page);
      if (await page.locator("dialog.palette").count()) await page.keyboard.press("Escape");
      expect([seed, i, await page.locator("h1").count()]).toEqual([seed, i, 1]);
    }
    await expect.poll(() => waiting).toBe(0);
    await page.close();
    expect([seed, failed, complaints, (await lines()) - before]).toEqual([seed, [], [], acts]);
    if (process.env.CLICKS) console.log(`${clicks} clicks, ${acts} acts, seed ${seed}`);
  });

  test("no frame shows it", async () => {
    const context = await browser.newContext();
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

  test("Studio had no error of its own", () => {
    expect(opened.failures).toEqual([]);
  });
}

/**
 * The tools of `svc mcp`: what a coding agent may ask for. Most are panels of Studio; none of them is an act.
 * Next hop: `mcp-server.ts` speaks the protocol.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import type { Observations } from "../telemetry/observations.ts";
import { dataPanels } from "./data-panels.ts";
import { databasePanels } from "./database-panels.ts";
import { devPanels } from "./dev-panels.ts";
import { docsPage } from "./docs-page.ts";
import type { Panel, Tools } from "./panel.ts";
import { procedure, runPanels } from "./run-panel.ts";
import { searchPanels } from "./search-panel.ts";
import { sqlPanel } from "./sql-panel.ts";
import { askStudio } from "./studio-entry.ts";
import { viewer } from "./view.ts";

export interface AgentContext {
  /** Opens the database at the first call. */
  tools(): Promise<Tools>;
  /** What `svc dev` has seen of its service, in its own process. (Default: its Studio is asked) */
  observations?: Observations | undefined;
  /** The application's folder. */
  cwd: string;
  /** The folder of svc, which has its documentation. */
  platform: string;
}

export interface AgentTool {
  /** Tells an agent when to use it. */
  description: string;
  input: z.ZodType;
  /** Whether the answer holds what users or strangers may have written. (Default: false) */
  isData?: boolean;
  /** Whether it may leave something behind. (Default: false) */
  hasEffects?: boolean;
  answer(input: never, context: AgentContext): Promise<unknown>;
}

const none = z.strictObject({});

/** A panel that answers from the database, or by a command. @param changed replaces the panel's input or fixes a part of it */
const ofPanel = (
  panel: Panel,
  words: Pick<AgentTool, "description" | "isData" | "hasEffects">,
  { input = panel.input, fixed = {} }: { input?: z.ZodType; fixed?: object } = {},
): AgentTool => ({
  ...words,
  input,
  async answer(given: { as?: string | null }, context) {
    const tools = await context.tools();
    const as = typeof given.as === "string" ? { as: await idOf(given.as, tools) } : {};
    return panel.answer({ ...given, ...as, ...fixed } as never, tools);
  },
});

/** An unknown user is refused: all rows would seem to be hidden from that user. */
async function idOf(user: string, { ask }: Tools): Promise<string> {
  const users: { id: string; email: string }[] = await ask("select * from svc_private.studio_users($1, 20)", [user]);
  const found = users.find(({ id, email }) => id === user || email === user.toLowerCase());
  if (found) return found.id;
  throw new SvcError("NOT_FOUND", `There is no user ${user}.`, {
    hint: "Give an id or a whole e-mail address; the tool users finds them by the beginning of the address.",
  });
}

/** Only `svc dev` knows. */
const ofDev = (name: "requests" | "trace", description: string): AgentTool => ({
  description,
  isData: true,
  input: devPanels[name].input,
  answer: async (input, { observations, cwd, tools }) =>
    observations ? devPanels[name].answer(input, await tools()) : askStudio(cwd, name, input),
});

const table = z.string().min(1).max(200).nullable().default(null);

/** $1 null: all of the application. */
const describeTables = `select t.name, t.has_rls, t.estimate, t.says,
    array(select to_jsonb(c) from svc_private.studio_columns(t.name) as c) as columns
  from svc_private.studio_tables() as t
 where coalesce(t.name = $1, not t.is_platform)`;

export const agentTools: Readonly<Record<string, AgentTool>> = {
  tables: {
    description:
      "Tables of the application with their columns, types, primary keys (key_place), comments, and whether visitors and signed-in users may select each column. Start here. The number of rows is an estimate.",
    input: z.strictObject({ table: table.describe("With its schema, such as public.tasks; null: all tables.") }),
    async answer(input: { table: string | null }, context) {
      const found = await (await context.tools()).ask(describeTables, [input.table]);
      if (found.length > 0 || input.table === null) return found;
      throw new SvcError("NOT_FOUND", `There is no table ${input.table}.`, {
        hint: "Names have their schema, such as public.tasks.",
      });
    },
  },
  users: ofPanel(dataPanels.users, {
    description: "Users by id, or by the beginning of their e-mail address. Use it to find who to name in `as`.",
    isData: true,
  }),
  policies: ofPanel(dataPanels.policies, {
    description:
      "Which rows each role may select, insert, update and delete, in words and as the SQL of the policies. Use it before you change a policy, or to find out what the rules of a table are.",
  }),
  explain_row: ofPanel(dataPanels.explain, {
    description:
      "Why a user sees, or may change, one row, or not: for each command the grant and the result of each policy. Use it when a row is missing from an answer, or appears in one.",
    isData: true,
  }),
  query: ofPanel(sqlPanel, {
    description:
      "Runs one SQL statement as a user or a visitor, in a READ ONLY transaction with this user's policies: at most 200 rows, cells of 400 characters, 3 seconds. With `plan` it answers the plan instead. It never runs as the system.",
    isData: true,
  }),
  operations: ofPanel(runPanels.operations, {
    description: "The queries and mutations of the application, with the members of their arguments.",
  }),
  dry_run: ofPanel(
    runPanels.dryRun,
    {
      description:
        "Calls a query or mutation as a user in one transaction and rolls it back: the answer, rows written, jobs and messages. Use it to try a handler. What a rollback cannot undo is refused and listed (unsafeDb, files, fetch), except what the handler sends by other means, such as SMTP.",
      isData: true,
      hasEffects: true,
    },
    // The panel's own schema of arguments refers to itself, which some clients cannot read.
    {
      input: z.strictObject({
        name: procedure.describe("Such as tasks.create; the tool operations lists the names."),
        as: viewer,
        args: z.unknown().optional().describe('The arguments as JSON, such as {"title":"Write docs"}.'),
      }),
    },
  ),
  search: ofPanel(searchPanels.search, {
    description:
      "What a user finds in a searchable table by keywords, with scores, and what each term adds to them. Use it to find out why a search misses or ranks a row.",
    isData: true,
  }),
  lint: ofPanel(
    databasePanels.database,
    {
      description: "Security and performance problems of the schema. Use it after a change of the schema or a policy.",
    },
    { input: none, fixed: { what: "lint" } },
  ),
  drift: ofPanel(
    databasePanels.database,
    { description: "What the database has other than migrations/ and sql/ describe, such as changes by hand." },
    { input: none, fixed: { what: "drift" } },
  ),
  doctor: ofPanel(databasePanels.doctor, {
    description: "Problems of the setup: configuration, database, roles, migrations, background work.",
  }),
  migrations: ofPanel(databasePanels.migrations, {
    description: "Which files of migrations/ and sql/ are applied, pending or edited.",
  }),
  docs: {
    description:
      "The documentation of the installed version of svc. Without `page` its index; with it the page. Read a page before you use a feature of svc.",
    input: z.strictObject({
      page: z.string().max(200).nullable().default(null).describe("As in the index, such as how-to/teams.md."),
    }),
    answer: ({ page }: { page: string | null }, { platform }) => docsPage(platform, page),
  },
  requests: ofDev(
    "requests",
    "The last requests to the service of svc dev, newest first, with status, user, duration and error. Use it to find a request that failed. svc dev must be running.",
  ),
  trace: ofDev(
    "trace",
    "What one request did: its statements, jobs and messages. The id is the requestId of an error or an id from the tool requests. svc dev must be running.",
  ),
};

/** The panels, in the order of the links. */
import { audit } from "./audit.ts";
import { data } from "./data.ts";
import { dba, migrations } from "./database.ts";
import type { Child } from "./dom.ts";
import { ai, realtime, storage } from "./figures.ts";
import { home } from "./home.ts";
import { people } from "./people.ts";
import { policies } from "./policies.ts";
import { mailbox, requests } from "./requests.ts";
import { run } from "./run.ts";
import { search } from "./search.ts";
import { sql } from "./sql.ts";
import type { State } from "./state.ts";
import { webhooks } from "./webhooks.ts";
import { crons, jobs } from "./work.ts";
import { workflows } from "./workflows.ts";

interface Panel {
  title: string;
  show(state: State): Child;
}

export const panels: Readonly<Record<string, Panel>> = {
  home: { title: "Home", show: home },
  data: { title: "Data", show: data },
  policies: { title: "Policies", show: policies },
  sql: { title: "SQL", show: sql },
  run: { title: "Run", show: run },
  requests: { title: "Requests", show: requests },
  mailbox: { title: "Mailbox", show: mailbox },
  people: { title: "People", show: people },
  audit: { title: "Audit", show: audit },
  workflows: { title: "Workflows", show: workflows },
  jobs: { title: "Jobs", show: jobs },
  crons: { title: "Crons", show: crons },
  webhooks: { title: "Webhooks", show: webhooks },
  storage: { title: "Storage", show: storage },
  realtime: { title: "Realtime", show: realtime },
  search: { title: "Search lab", show: search },
  ai: { title: "AI", show: ai },
  dba: { title: "DBA", show: dba },
  migrations: { title: "Migrations", show: migrations },
};

// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import { type FiltersOf, mutation, query, type RowIn, resourceQuery } from "@svc/client";
import type backend from "../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;
type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;

const cardsColumns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const tasksColumns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const postsColumns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const guestbookColumns = {
  createdAt: "date",
} as const;

const expensesColumns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

interface CardsResource {
  row: RowIn<Procedures["cards"]["list"]>;
  filters: FiltersOf<Procedures["cards"]["list"]>;
  relations: Record<never, never>;
}

interface TasksResource {
  row: RowIn<Procedures["tasks"]["list"]>;
  filters: FiltersOf<Procedures["tasks"]["list"]>;
  relations: Record<never, never>;
}

interface PostsResource {
  row: RowIn<Procedures["posts"]["list"]>;
  filters: FiltersOf<Procedures["posts"]["list"]>;
  relations: Record<never, never>;
}

interface GuestbookResource {
  row: RowIn<Procedures["guestbook"]["list"]>;
  filters: FiltersOf<Procedures["guestbook"]["list"]>;
  relations: Record<never, never>;
}

interface ExpensesResource {
  row: RowIn<Procedures["expenses"]["list"]>;
  filters: FiltersOf<Procedures["expenses"]["list"]>;
  relations: Record<never, never>;
}

const operations = {
  cards: {
    list: resourceQuery<Procedures["cards"]["list"], CardsResource>("cards.list", cardsColumns),
    create: mutation<Procedures["cards"]["create"]>("cards.create", cardsColumns),
    update: mutation<Procedures["cards"]["update"]>("cards.update", cardsColumns),
    remove: mutation<Procedures["cards"]["remove"]>("cards.remove", cardsColumns),
    run: mutation<Procedures["runStatement"]>("cards.run"),
  },
  tasks: {
    list: resourceQuery<Procedures["tasks"]["list"], TasksResource>("tasks.list", tasksColumns),
    get: resourceQuery<Procedures["tasks"]["get"], TasksResource>("tasks.get", tasksColumns),
    create: mutation<Procedures["tasks"]["create"]>("tasks.create", tasksColumns),
    update: mutation<Procedures["tasks"]["update"]>("tasks.update", tasksColumns),
    remove: mutation<Procedures["tasks"]["remove"]>("tasks.remove", tasksColumns),
    openCount: query<Procedures["openCount"]>("tasks.openCount"),
    finishAll: mutation<Procedures["finishAll"]>("tasks.finishAll"),
    remind: mutation<Procedures["remind"]>("tasks.remind"),
  },
  attachments: {
    add: mutation<Procedures["attachments"]["add"]>("attachments.add"),
    list: query<Procedures["attachments"]["list"]>("attachments.list"),
    remove: mutation<Procedures["attachments"]["remove"]>("attachments.remove"),
  },
  posts: {
    list: resourceQuery<Procedures["posts"]["list"], PostsResource>("posts.list", postsColumns),
    get: resourceQuery<Procedures["posts"]["get"], PostsResource>("posts.get", postsColumns),
    create: mutation<Procedures["posts"]["create"]>("posts.create", postsColumns),
    update: mutation<Procedures["posts"]["update"]>("posts.update", postsColumns),
    remove: mutation<Procedures["posts"]["remove"]>("posts.remove", postsColumns),
  },
  guestbook: {
    list: resourceQuery<Procedures["guestbook"]["list"], GuestbookResource>("guestbook.list", guestbookColumns),
    get: resourceQuery<Procedures["guestbook"]["get"], GuestbookResource>("guestbook.get", guestbookColumns),
    create: mutation<Procedures["guestbook"]["create"]>("guestbook.create", guestbookColumns),
    update: mutation<Procedures["guestbook"]["update"]>("guestbook.update", guestbookColumns),
    remove: mutation<Procedures["guestbook"]["remove"]>("guestbook.remove", guestbookColumns),
  },
  docs: {
    contents: query<Procedures["docs"]["contents"]>("docs.contents"),
    prepare: mutation<Procedures["docs"]["prepare"]>("docs.prepare"),
    ask: query<Procedures["docs"]["ask"]>("docs.ask"),
    section: query<Procedures["docs"]["section"]>("docs.section"),
  },
  handbook: {
    contents: query<Procedures["handbook"]["contents"]>("handbook.contents"),
    prepare: mutation<Procedures["handbook"]["prepare"]>("handbook.prepare"),
    ask: query<Procedures["handbook"]["ask"]>("handbook.ask"),
  },
  expenses: {
    list: resourceQuery<Procedures["expenses"]["list"], ExpensesResource>("expenses.list", expensesColumns),
    file: mutation<Procedures["fileExpense"]>("expenses.file"),
    decide: mutation<Procedures["decideExpense"]>("expenses.decide"),
  },
  library: {
    add: mutation<Procedures["library"]["add"]>("library.add"),
    list: query<Procedures["library"]["list"]>("library.list"),
    remove: mutation<Procedures["library"]["remove"]>("library.remove"),
    open: mutation<Procedures["library"]["open"]>("library.open"),
    ask: query<Procedures["library"]["ask"]>("library.ask"),
  },
  workflows: {
    list: query<Workflows["list"]>("workflows.list"),
    get: query<Workflows["get"]>("workflows.get"),
    signal: mutation<Workflows["signal"]>("workflows.signal"),
    cancel: mutation<Workflows["cancel"]>("workflows.cancel"),
    retry: mutation<Workflows["retry"]>("workflows.retry"),
  },
} as const;

// Interfaces: the compiler names them in its messages. It would print other types with every table in them.
interface CardsOperations extends Readonly<(typeof operations)["cards"]> {}
interface TasksOperations extends Readonly<(typeof operations)["tasks"]> {}
interface AttachmentsOperations extends Readonly<(typeof operations)["attachments"]> {}
interface PostsOperations extends Readonly<(typeof operations)["posts"]> {}
interface GuestbookOperations extends Readonly<(typeof operations)["guestbook"]> {}
interface DocsOperations extends Readonly<(typeof operations)["docs"]> {}
interface HandbookOperations extends Readonly<(typeof operations)["handbook"]> {}
interface ExpensesOperations extends Readonly<(typeof operations)["expenses"]> {}
interface LibraryOperations extends Readonly<(typeof operations)["library"]> {}
interface WorkflowsOperations extends Readonly<(typeof operations)["workflows"]> {}
export interface Api {
  readonly cards: CardsOperations;
  readonly tasks: TasksOperations;
  readonly attachments: AttachmentsOperations;
  readonly posts: PostsOperations;
  readonly guestbook: GuestbookOperations;
  readonly docs: DocsOperations;
  readonly handbook: HandbookOperations;
  readonly expenses: ExpensesOperations;
  readonly library: LibraryOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = operations;

// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import {
  type FiltersOf,
  type MutationOf,
  mutation,
  type QueryOf,
  query,
  type ResourceQueryOf,
  type RowIn,
} from "@svc/client";
import type * as attachmentsModule from "../../backend/attachments.ts";
import type * as boardModule from "../../backend/board.ts";
import type * as cardsModule from "../../backend/cards.ts";
import type * as docsModule from "../../backend/docs.ts";
import type * as expensesModule from "../../backend/expenses.ts";
import type { WorkflowProcedures as Workflows } from "../../backend/generated/db.ts";
import type * as handbookModule from "../../backend/handbook.ts";
import type * as libraryModule from "../../backend/library.ts";
import type * as tasksModule from "../../backend/tasks.ts";

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
  row: RowIn<typeof cardsModule.cardsCrud.list>;
  filters: FiltersOf<typeof cardsModule.cardsCrud.list>;
  relations: Record<never, never>;
}

interface TasksResource {
  row: RowIn<typeof tasksModule.tasksCrud.list>;
  filters: FiltersOf<typeof tasksModule.tasksCrud.list>;
  relations: Record<never, never>;
}

interface PostsResource {
  row: RowIn<typeof boardModule.postsCrud.list>;
  filters: FiltersOf<typeof boardModule.postsCrud.list>;
  relations: Record<never, never>;
}

interface GuestbookResource {
  row: RowIn<typeof boardModule.guestbookCrud.list>;
  filters: FiltersOf<typeof boardModule.guestbookCrud.list>;
  relations: Record<never, never>;
}

interface ExpensesResource {
  row: RowIn<typeof expensesModule.expensesCrud.list>;
  filters: FiltersOf<typeof expensesModule.expensesCrud.list>;
  relations: Record<never, never>;
}

// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.
interface CardsOperations {
  readonly list: ResourceQueryOf<typeof cardsModule.cardsCrud.list, CardsResource>;
  readonly create: MutationOf<typeof cardsModule.cardsCrud.create>;
  readonly update: MutationOf<typeof cardsModule.cardsCrud.update>;
  readonly remove: MutationOf<typeof cardsModule.cardsCrud.remove>;
  readonly run: MutationOf<typeof cardsModule.run>;
}
interface TasksOperations {
  readonly list: ResourceQueryOf<typeof tasksModule.tasksCrud.list, TasksResource>;
  readonly get: ResourceQueryOf<typeof tasksModule.tasksCrud.get, TasksResource>;
  readonly create: MutationOf<typeof tasksModule.tasksCrud.create>;
  readonly update: MutationOf<typeof tasksModule.tasksCrud.update>;
  readonly remove: MutationOf<typeof tasksModule.tasksCrud.remove>;
  readonly openCount: QueryOf<typeof tasksModule.openCount>;
  readonly finishAll: MutationOf<typeof tasksModule.finishAll>;
  readonly remind: MutationOf<typeof tasksModule.remind>;
}
interface AttachmentsOperations {
  readonly add: MutationOf<typeof attachmentsModule.add>;
  readonly list: QueryOf<typeof attachmentsModule.list>;
  readonly remove: MutationOf<typeof attachmentsModule.remove>;
}
interface PostsOperations {
  readonly list: ResourceQueryOf<typeof boardModule.postsCrud.list, PostsResource>;
  readonly get: ResourceQueryOf<typeof boardModule.postsCrud.get, PostsResource>;
  readonly create: MutationOf<typeof boardModule.postsCrud.create>;
  readonly update: MutationOf<typeof boardModule.postsCrud.update>;
  readonly remove: MutationOf<typeof boardModule.postsCrud.remove>;
}
interface GuestbookOperations {
  readonly list: ResourceQueryOf<typeof boardModule.guestbookCrud.list, GuestbookResource>;
  readonly get: ResourceQueryOf<typeof boardModule.guestbookCrud.get, GuestbookResource>;
  readonly create: MutationOf<typeof boardModule.guestbookCrud.create>;
  readonly update: MutationOf<typeof boardModule.guestbookCrud.update>;
  readonly remove: MutationOf<typeof boardModule.guestbookCrud.remove>;
}
interface DocsOperations {
  readonly contents: QueryOf<typeof docsModule.contents>;
  readonly prepare: MutationOf<typeof docsModule.prepare>;
  readonly ask: QueryOf<typeof docsModule.ask>;
  readonly section: QueryOf<typeof docsModule.section>;
}
interface HandbookOperations {
  readonly contents: QueryOf<typeof handbookModule.contents>;
  readonly prepare: MutationOf<typeof handbookModule.prepare>;
  readonly ask: QueryOf<typeof handbookModule.ask>;
}
interface ExpensesOperations {
  readonly list: ResourceQueryOf<typeof expensesModule.expensesCrud.list, ExpensesResource>;
  readonly file: MutationOf<typeof expensesModule.file>;
  readonly decide: MutationOf<typeof expensesModule.decide>;
}
interface LibraryOperations {
  readonly add: MutationOf<typeof libraryModule.add>;
  readonly list: QueryOf<typeof libraryModule.list>;
  readonly remove: MutationOf<typeof libraryModule.remove>;
  readonly open: MutationOf<typeof libraryModule.open>;
  readonly ask: QueryOf<typeof libraryModule.ask>;
}
interface WorkflowsOperations {
  readonly list: QueryOf<Workflows["list"]>;
  readonly get: QueryOf<Workflows["get"]>;
  readonly signal: MutationOf<Workflows["signal"]>;
  readonly cancel: MutationOf<Workflows["cancel"]>;
  readonly retry: MutationOf<Workflows["retry"]>;
}
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

export const api: Api = {
  cards: {
    list: query("cards.list", cardsColumns),
    create: mutation("cards.create", cardsColumns),
    update: mutation("cards.update", cardsColumns),
    remove: mutation("cards.remove", cardsColumns),
    run: mutation("cards.run"),
  },
  tasks: {
    list: query("tasks.list", tasksColumns),
    get: query("tasks.get", tasksColumns),
    create: mutation("tasks.create", tasksColumns),
    update: mutation("tasks.update", tasksColumns),
    remove: mutation("tasks.remove", tasksColumns),
    openCount: query("tasks.openCount"),
    finishAll: mutation("tasks.finishAll"),
    remind: mutation("tasks.remind"),
  },
  attachments: {
    add: mutation("attachments.add"),
    list: query("attachments.list"),
    remove: mutation("attachments.remove"),
  },
  posts: {
    list: query("posts.list", postsColumns),
    get: query("posts.get", postsColumns),
    create: mutation("posts.create", postsColumns),
    update: mutation("posts.update", postsColumns),
    remove: mutation("posts.remove", postsColumns),
  },
  guestbook: {
    list: query("guestbook.list", guestbookColumns),
    get: query("guestbook.get", guestbookColumns),
    create: mutation("guestbook.create", guestbookColumns),
    update: mutation("guestbook.update", guestbookColumns),
    remove: mutation("guestbook.remove", guestbookColumns),
  },
  docs: {
    contents: query("docs.contents"),
    prepare: mutation("docs.prepare"),
    ask: query("docs.ask"),
    section: query("docs.section"),
  },
  handbook: {
    contents: query("handbook.contents"),
    prepare: mutation("handbook.prepare"),
    ask: query("handbook.ask"),
  },
  expenses: {
    list: query("expenses.list", expensesColumns),
    file: mutation("expenses.file"),
    decide: mutation("expenses.decide"),
  },
  library: {
    add: mutation("library.add"),
    list: query("library.list"),
    remove: mutation("library.remove"),
    open: mutation("library.open"),
    ask: query("library.ask"),
  },
  workflows: {
    list: query("workflows.list"),
    get: query("workflows.get"),
    signal: mutation("workflows.signal"),
    cancel: mutation("workflows.cancel"),
    retry: mutation("workflows.retry"),
  },
} as never;

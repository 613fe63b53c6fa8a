// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import { type FiltersOf, type Many, mutation, type One, query, type RowIn, resourceQuery } from "@svc/client";
import type backend from "../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;
type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;

const itemsColumns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const items_1e3Columns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const items_1e4Columns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const items_1e5Columns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const items_1e6Columns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const items_1e7Columns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const deep_itemsColumns = {
  createdAt: "date",
  updatedAt: "date",
} as const;

const articlesColumns = {
  createdAt: "date",
} as const;

interface ItemsResource {
  row: RowIn<Procedures["items"]["list"]>;
  filters: FiltersOf<Procedures["items"]["list"]>;
  relations: Record<never, never>;
}

interface Items1e3Resource {
  row: RowIn<Procedures["items1e3"]["list"]>;
  filters: FiltersOf<Procedures["items1e3"]["list"]>;
  relations: Record<never, never>;
}

interface Items1e4Resource {
  row: RowIn<Procedures["items1e4"]["list"]>;
  filters: FiltersOf<Procedures["items1e4"]["list"]>;
  relations: Record<never, never>;
}

interface Items1e5Resource {
  row: RowIn<Procedures["items1e5"]["list"]>;
  filters: FiltersOf<Procedures["items1e5"]["list"]>;
  relations: Record<never, never>;
}

interface Items1e6Resource {
  row: RowIn<Procedures["items1e6"]["list"]>;
  filters: FiltersOf<Procedures["items1e6"]["list"]>;
  relations: Record<never, never>;
}

interface Items1e7Resource {
  row: RowIn<Procedures["items1e7"]["list"]>;
  filters: FiltersOf<Procedures["items1e7"]["list"]>;
  relations: Record<never, never>;
}

interface DeepItemsResource {
  row: RowIn<Procedures["deepItems"]["list"]>;
  filters: FiltersOf<Procedures["deepItems"]["list"]>;
  relations: Record<never, never>;
}

interface ArticlesResource {
  row: RowIn<Procedures["articles"]["list"]>;
  filters: FiltersOf<Procedures["articles"]["list"]>;
  relations: {
    author: One<AuthorsResource>;
    tags: Many<TagsResource>;
    comments: Many<CommentsResource>;
  };
}

interface AuthorsResource {
  row: RowIn<Procedures["authors"]["list"]>;
  filters: FiltersOf<Procedures["authors"]["list"]>;
  relations: Record<never, never>;
}

interface TagsResource {
  row: RowIn<Procedures["tags"]["list"]>;
  filters: FiltersOf<Procedures["tags"]["list"]>;
  relations: Record<never, never>;
}

interface CommentsResource {
  row: RowIn<Procedures["comments"]["list"]>;
  filters: FiltersOf<Procedures["comments"]["list"]>;
  relations: Record<never, never>;
}

const operations = {
  items: {
    list: resourceQuery<Procedures["items"]["list"], ItemsResource>("items.list", itemsColumns),
    get: resourceQuery<Procedures["items"]["get"], ItemsResource>("items.get", itemsColumns),
    create: mutation<Procedures["items"]["create"]>("items.create", itemsColumns),
    update: mutation<Procedures["items"]["update"]>("items.update", itemsColumns),
    remove: mutation<Procedures["items"]["remove"]>("items.remove", itemsColumns),
    import: mutation<Procedures["items"]["import"]>("items.import"),
  },
  items_1e3: {
    list: resourceQuery<Procedures["items1e3"]["list"], Items1e3Resource>("items_1e3.list", items_1e3Columns),
    get: resourceQuery<Procedures["items1e3"]["get"], Items1e3Resource>("items_1e3.get", items_1e3Columns),
    create: mutation<Procedures["items1e3"]["create"]>("items_1e3.create", items_1e3Columns),
    update: mutation<Procedures["items1e3"]["update"]>("items_1e3.update", items_1e3Columns),
    remove: mutation<Procedures["items1e3"]["remove"]>("items_1e3.remove", items_1e3Columns),
  },
  items_1e4: {
    list: resourceQuery<Procedures["items1e4"]["list"], Items1e4Resource>("items_1e4.list", items_1e4Columns),
    get: resourceQuery<Procedures["items1e4"]["get"], Items1e4Resource>("items_1e4.get", items_1e4Columns),
    create: mutation<Procedures["items1e4"]["create"]>("items_1e4.create", items_1e4Columns),
    update: mutation<Procedures["items1e4"]["update"]>("items_1e4.update", items_1e4Columns),
    remove: mutation<Procedures["items1e4"]["remove"]>("items_1e4.remove", items_1e4Columns),
  },
  items_1e5: {
    list: resourceQuery<Procedures["items1e5"]["list"], Items1e5Resource>("items_1e5.list", items_1e5Columns),
    get: resourceQuery<Procedures["items1e5"]["get"], Items1e5Resource>("items_1e5.get", items_1e5Columns),
    create: mutation<Procedures["items1e5"]["create"]>("items_1e5.create", items_1e5Columns),
    update: mutation<Procedures["items1e5"]["update"]>("items_1e5.update", items_1e5Columns),
    remove: mutation<Procedures["items1e5"]["remove"]>("items_1e5.remove", items_1e5Columns),
  },
  items_1e6: {
    list: resourceQuery<Procedures["items1e6"]["list"], Items1e6Resource>("items_1e6.list", items_1e6Columns),
    get: resourceQuery<Procedures["items1e6"]["get"], Items1e6Resource>("items_1e6.get", items_1e6Columns),
    create: mutation<Procedures["items1e6"]["create"]>("items_1e6.create", items_1e6Columns),
    update: mutation<Procedures["items1e6"]["update"]>("items_1e6.update", items_1e6Columns),
    remove: mutation<Procedures["items1e6"]["remove"]>("items_1e6.remove", items_1e6Columns),
  },
  items_1e7: {
    list: resourceQuery<Procedures["items1e7"]["list"], Items1e7Resource>("items_1e7.list", items_1e7Columns),
    get: resourceQuery<Procedures["items1e7"]["get"], Items1e7Resource>("items_1e7.get", items_1e7Columns),
    create: mutation<Procedures["items1e7"]["create"]>("items_1e7.create", items_1e7Columns),
    update: mutation<Procedures["items1e7"]["update"]>("items_1e7.update", items_1e7Columns),
    remove: mutation<Procedures["items1e7"]["remove"]>("items_1e7.remove", items_1e7Columns),
  },
  deep_items: {
    list: resourceQuery<Procedures["deepItems"]["list"], DeepItemsResource>("deep_items.list", deep_itemsColumns),
  },
  articles: {
    list: resourceQuery<Procedures["articles"]["list"], ArticlesResource>("articles.list", articlesColumns),
  },
  authors: {
    list: resourceQuery<Procedures["authors"]["list"], AuthorsResource>("authors.list"),
    get: resourceQuery<Procedures["authors"]["get"], AuthorsResource>("authors.get"),
  },
  tags: {
    list: resourceQuery<Procedures["tags"]["list"], TagsResource>("tags.list"),
  },
  comments: {
    list: resourceQuery<Procedures["comments"]["list"], CommentsResource>("comments.list"),
  },
  echo: query<Procedures["echo"]>("echo"),
  echoToAnyone: query<Procedures["echoToAnyone"]>("echoToAnyone"),
  storeFile: mutation<Procedures["storeFile"]>("storeFile"),
  openItems: query<Procedures["openItems"]>("openItems"),
  workflows: {
    list: query<Workflows["list"]>("workflows.list"),
    get: query<Workflows["get"]>("workflows.get"),
    signal: mutation<Workflows["signal"]>("workflows.signal"),
    cancel: mutation<Workflows["cancel"]>("workflows.cancel"),
    retry: mutation<Workflows["retry"]>("workflows.retry"),
  },
} as const;

// Interfaces: the compiler names them in its messages. It would print other types with every table in them.
interface ItemsOperations extends Readonly<(typeof operations)["items"]> {}
interface Items_1e3Operations extends Readonly<(typeof operations)["items_1e3"]> {}
interface Items_1e4Operations extends Readonly<(typeof operations)["items_1e4"]> {}
interface Items_1e5Operations extends Readonly<(typeof operations)["items_1e5"]> {}
interface Items_1e6Operations extends Readonly<(typeof operations)["items_1e6"]> {}
interface Items_1e7Operations extends Readonly<(typeof operations)["items_1e7"]> {}
interface Deep_itemsOperations extends Readonly<(typeof operations)["deep_items"]> {}
interface ArticlesOperations extends Readonly<(typeof operations)["articles"]> {}
interface AuthorsOperations extends Readonly<(typeof operations)["authors"]> {}
interface TagsOperations extends Readonly<(typeof operations)["tags"]> {}
interface CommentsOperations extends Readonly<(typeof operations)["comments"]> {}
interface WorkflowsOperations extends Readonly<(typeof operations)["workflows"]> {}
export interface Api {
  readonly items: ItemsOperations;
  readonly items_1e3: Items_1e3Operations;
  readonly items_1e4: Items_1e4Operations;
  readonly items_1e5: Items_1e5Operations;
  readonly items_1e6: Items_1e6Operations;
  readonly items_1e7: Items_1e7Operations;
  readonly deep_items: Deep_itemsOperations;
  readonly articles: ArticlesOperations;
  readonly authors: AuthorsOperations;
  readonly tags: TagsOperations;
  readonly comments: CommentsOperations;
  readonly echo: (typeof operations)["echo"];
  readonly echoToAnyone: (typeof operations)["echoToAnyone"];
  readonly storeFile: (typeof operations)["storeFile"];
  readonly openItems: (typeof operations)["openItems"];
  readonly workflows: WorkflowsOperations;
}

export const api: Api = operations;

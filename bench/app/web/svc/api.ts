// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import {
  type ChannelOf,
  channel,
  type FiltersOf,
  type Many,
  type MutationOf,
  mutation,
  type One,
  type QueryOf,
  query,
  type ResourceQueryOf,
  type RowIn,
} from "@svc/client";
import type { WorkflowProcedures as Workflows } from "../../backend/generated/db.ts";
import type backend from "../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;

type Channels = NonNullable<(typeof backend)["~svc"]["channelTypes"]>;

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

// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.
interface ItemsOperations {
  readonly list: ResourceQueryOf<Procedures["items"]["list"], ItemsResource>;
  readonly get: ResourceQueryOf<Procedures["items"]["get"], ItemsResource>;
  readonly create: MutationOf<Procedures["items"]["create"]>;
  readonly update: MutationOf<Procedures["items"]["update"]>;
  readonly remove: MutationOf<Procedures["items"]["remove"]>;
  readonly import: MutationOf<Procedures["items"]["import"]>;
}
interface Items_1e3Operations {
  readonly list: ResourceQueryOf<Procedures["items1e3"]["list"], Items1e3Resource>;
  readonly get: ResourceQueryOf<Procedures["items1e3"]["get"], Items1e3Resource>;
  readonly create: MutationOf<Procedures["items1e3"]["create"]>;
  readonly update: MutationOf<Procedures["items1e3"]["update"]>;
  readonly remove: MutationOf<Procedures["items1e3"]["remove"]>;
}
interface Items_1e4Operations {
  readonly list: ResourceQueryOf<Procedures["items1e4"]["list"], Items1e4Resource>;
  readonly get: ResourceQueryOf<Procedures["items1e4"]["get"], Items1e4Resource>;
  readonly create: MutationOf<Procedures["items1e4"]["create"]>;
  readonly update: MutationOf<Procedures["items1e4"]["update"]>;
  readonly remove: MutationOf<Procedures["items1e4"]["remove"]>;
}
interface Items_1e5Operations {
  readonly list: ResourceQueryOf<Procedures["items1e5"]["list"], Items1e5Resource>;
  readonly get: ResourceQueryOf<Procedures["items1e5"]["get"], Items1e5Resource>;
  readonly create: MutationOf<Procedures["items1e5"]["create"]>;
  readonly update: MutationOf<Procedures["items1e5"]["update"]>;
  readonly remove: MutationOf<Procedures["items1e5"]["remove"]>;
}
interface Items_1e6Operations {
  readonly list: ResourceQueryOf<Procedures["items1e6"]["list"], Items1e6Resource>;
  readonly get: ResourceQueryOf<Procedures["items1e6"]["get"], Items1e6Resource>;
  readonly create: MutationOf<Procedures["items1e6"]["create"]>;
  readonly update: MutationOf<Procedures["items1e6"]["update"]>;
  readonly remove: MutationOf<Procedures["items1e6"]["remove"]>;
}
interface Items_1e7Operations {
  readonly list: ResourceQueryOf<Procedures["items1e7"]["list"], Items1e7Resource>;
  readonly get: ResourceQueryOf<Procedures["items1e7"]["get"], Items1e7Resource>;
  readonly create: MutationOf<Procedures["items1e7"]["create"]>;
  readonly update: MutationOf<Procedures["items1e7"]["update"]>;
  readonly remove: MutationOf<Procedures["items1e7"]["remove"]>;
}
interface Deep_itemsOperations {
  readonly list: ResourceQueryOf<Procedures["deepItems"]["list"], DeepItemsResource>;
}
interface ArticlesOperations {
  readonly list: ResourceQueryOf<Procedures["articles"]["list"], ArticlesResource>;
}
interface AuthorsOperations {
  readonly list: ResourceQueryOf<Procedures["authors"]["list"], AuthorsResource>;
  readonly get: ResourceQueryOf<Procedures["authors"]["get"], AuthorsResource>;
}
interface TagsOperations {
  readonly list: ResourceQueryOf<Procedures["tags"]["list"], TagsResource>;
}
interface CommentsOperations {
  readonly list: ResourceQueryOf<Procedures["comments"]["list"], CommentsResource>;
}
interface WorkflowsOperations {
  readonly list: QueryOf<Workflows["list"]>;
  readonly get: QueryOf<Workflows["get"]>;
  readonly signal: MutationOf<Workflows["signal"]>;
  readonly cancel: MutationOf<Workflows["cancel"]>;
  readonly retry: MutationOf<Workflows["retry"]>;
}
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
  readonly echo: QueryOf<Procedures["echo"]>;
  readonly echoToAnyone: QueryOf<Procedures["echoToAnyone"]>;
  readonly storeFile: MutationOf<Procedures["storeFile"]>;
  readonly openItems: QueryOf<Procedures["openItems"]>;
  readonly itemById: QueryOf<Procedures["itemById"]>;
  readonly latestItems: QueryOf<Procedures["latestItems"]>;
  readonly addItem: MutationOf<Procedures["addItem"]>;
  readonly workflows: WorkflowsOperations;
  readonly spots: ChannelOf<Channels["spots"]>;
  readonly keptSpots: ChannelOf<Channels["keptSpots"]>;
}

export const api: Api = {
  items: {
    list: query("items.list", itemsColumns),
    get: query("items.get", itemsColumns),
    create: mutation("items.create", itemsColumns),
    update: mutation("items.update", itemsColumns),
    remove: mutation("items.remove", itemsColumns),
    import: mutation("items.import"),
  },
  items_1e3: {
    list: query("items_1e3.list", items_1e3Columns),
    get: query("items_1e3.get", items_1e3Columns),
    create: mutation("items_1e3.create", items_1e3Columns),
    update: mutation("items_1e3.update", items_1e3Columns),
    remove: mutation("items_1e3.remove", items_1e3Columns),
  },
  items_1e4: {
    list: query("items_1e4.list", items_1e4Columns),
    get: query("items_1e4.get", items_1e4Columns),
    create: mutation("items_1e4.create", items_1e4Columns),
    update: mutation("items_1e4.update", items_1e4Columns),
    remove: mutation("items_1e4.remove", items_1e4Columns),
  },
  items_1e5: {
    list: query("items_1e5.list", items_1e5Columns),
    get: query("items_1e5.get", items_1e5Columns),
    create: mutation("items_1e5.create", items_1e5Columns),
    update: mutation("items_1e5.update", items_1e5Columns),
    remove: mutation("items_1e5.remove", items_1e5Columns),
  },
  items_1e6: {
    list: query("items_1e6.list", items_1e6Columns),
    get: query("items_1e6.get", items_1e6Columns),
    create: mutation("items_1e6.create", items_1e6Columns),
    update: mutation("items_1e6.update", items_1e6Columns),
    remove: mutation("items_1e6.remove", items_1e6Columns),
  },
  items_1e7: {
    list: query("items_1e7.list", items_1e7Columns),
    get: query("items_1e7.get", items_1e7Columns),
    create: mutation("items_1e7.create", items_1e7Columns),
    update: mutation("items_1e7.update", items_1e7Columns),
    remove: mutation("items_1e7.remove", items_1e7Columns),
  },
  deep_items: {
    list: query("deep_items.list", deep_itemsColumns),
  },
  articles: {
    list: query("articles.list", articlesColumns),
  },
  authors: {
    list: query("authors.list"),
    get: query("authors.get"),
  },
  tags: {
    list: query("tags.list"),
  },
  comments: {
    list: query("comments.list"),
  },
  echo: query("echo"),
  echoToAnyone: query("echoToAnyone"),
  storeFile: mutation("storeFile"),
  openItems: query("openItems"),
  itemById: query("itemById"),
  latestItems: query("latestItems"),
  addItem: mutation("addItem"),
  workflows: {
    list: query("workflows.list"),
    get: query("workflows.get"),
    signal: mutation("workflows.signal"),
    cancel: mutation("workflows.cancel"),
    retry: mutation("workflows.retry"),
  },
  spots: channel("spots"),
  keptSpots: channel("keptSpots"),
} as never;

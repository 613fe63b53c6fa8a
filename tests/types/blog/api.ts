// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import {
  aggregateQuery,
  type Conversions,
  type FiltersOf,
  type Many,
  mutation,
  type One,
  query,
  type RowIn,
  resourceQuery,
} from "@svc/client";
import type backend from "./index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;
type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;

const authorsColumns: Conversions = {
  bornAt: "date",
  posts: () => blog_postsColumns,
  edited: () => blog_postsColumns,
  followers: () => authorsColumns,
  following: () => authorsColumns,
};

const blog_postsColumns: Conversions = {
  author: () => authorsColumns,
  editor: () => authorsColumns,
  comments: () => commentsColumns,
  tags: () => tagsColumns,
};

const commentsColumns: Conversions = {
  deletedAt: "date",
  post: () => blog_postsColumns,
  parent: () => commentsColumns,
  replies: () => commentsColumns,
};

const tagsColumns: Conversions = {
  posts: () => blog_postsColumns,
};

interface AuthorsResource {
  row: RowIn<Procedures["authors"]["list"]>;
  filters: FiltersOf<Procedures["authors"]["list"]>;
  relations: {
    posts: Many<BlogPostsResource>;
    edited: Many<BlogPostsResource>;
    followers: Many<AuthorsResource>;
    following: Many<AuthorsResource>;
  };
}

interface BlogPostsResource {
  row: RowIn<Procedures["posts"]["list"]>;
  filters: FiltersOf<Procedures["posts"]["list"]>;
  relations: {
    author: One<AuthorsResource>;
    editor: One<AuthorsResource>;
    comments: Many<CommentsResource>;
    tags: Many<TagsResource>;
  };
}

interface CommentsResource {
  row: RowIn<Procedures["comments"]["list"]>;
  filters: FiltersOf<Procedures["comments"]["list"]>;
  relations: {
    post: One<BlogPostsResource>;
    parent: One<CommentsResource>;
    replies: Many<CommentsResource>;
  };
}

interface TagsResource {
  row: RowIn<Procedures["tags"]["list"]>;
  filters: FiltersOf<Procedures["tags"]["list"]>;
  relations: {
    posts: Many<BlogPostsResource>;
  };
}

interface EditionsResource {
  row: RowIn<Procedures["editions"]["list"]>;
  filters: FiltersOf<Procedures["editions"]["list"]>;
  relations: {
    prints: Many<PrintsResource>;
  };
}

interface PrintsResource {
  row: RowIn<Procedures["prints"]["list"]>;
  filters: FiltersOf<Procedures["prints"]["list"]>;
  relations: {
    editions: One<EditionsResource>;
  };
}

const operations = {
  authors: {
    list: resourceQuery<Procedures["authors"]["list"], AuthorsResource>("authors.list", authorsColumns),
    get: resourceQuery<Procedures["authors"]["get"], AuthorsResource>("authors.get", authorsColumns),
    create: mutation<Procedures["authors"]["create"]>("authors.create", authorsColumns),
    update: mutation<Procedures["authors"]["update"]>("authors.update", authorsColumns),
    remove: mutation<Procedures["authors"]["remove"]>("authors.remove", authorsColumns),
    aggregate: aggregateQuery<Procedures["authors"]["aggregate"], AuthorsResource>("authors.aggregate"),
  },
  blog_posts: {
    list: resourceQuery<Procedures["posts"]["list"], BlogPostsResource>("blog_posts.list", blog_postsColumns),
    get: resourceQuery<Procedures["posts"]["get"], BlogPostsResource>("blog_posts.get", blog_postsColumns),
    create: mutation<Procedures["posts"]["create"]>("blog_posts.create", blog_postsColumns),
    update: mutation<Procedures["posts"]["update"]>("blog_posts.update", blog_postsColumns),
    remove: mutation<Procedures["posts"]["remove"]>("blog_posts.remove", blog_postsColumns),
  },
  comments: {
    list: resourceQuery<Procedures["comments"]["list"], CommentsResource>("comments.list", commentsColumns),
    get: resourceQuery<Procedures["comments"]["get"], CommentsResource>("comments.get", commentsColumns),
    create: mutation<Procedures["comments"]["create"]>("comments.create", commentsColumns),
    update: mutation<Procedures["comments"]["update"]>("comments.update", commentsColumns),
    remove: mutation<Procedures["comments"]["remove"]>("comments.remove", commentsColumns),
  },
  tags: {
    list: resourceQuery<Procedures["tags"]["list"], TagsResource>("tags.list", tagsColumns),
    get: resourceQuery<Procedures["tags"]["get"], TagsResource>("tags.get", tagsColumns),
    create: mutation<Procedures["tags"]["create"]>("tags.create", tagsColumns),
    update: mutation<Procedures["tags"]["update"]>("tags.update", tagsColumns),
    remove: mutation<Procedures["tags"]["remove"]>("tags.remove", tagsColumns),
  },
  editions: {
    list: resourceQuery<Procedures["editions"]["list"], EditionsResource>("editions.list"),
    get: resourceQuery<Procedures["editions"]["get"], EditionsResource>("editions.get"),
    create: mutation<Procedures["editions"]["create"]>("editions.create"),
    update: mutation<Procedures["editions"]["update"]>("editions.update"),
    remove: mutation<Procedures["editions"]["remove"]>("editions.remove"),
  },
  prints: {
    list: resourceQuery<Procedures["prints"]["list"], PrintsResource>("prints.list"),
    get: resourceQuery<Procedures["prints"]["get"], PrintsResource>("prints.get"),
    create: mutation<Procedures["prints"]["create"]>("prints.create"),
    update: mutation<Procedures["prints"]["update"]>("prints.update"),
    remove: mutation<Procedures["prints"]["remove"]>("prints.remove"),
    aggregate: aggregateQuery<Procedures["prints"]["aggregate"], PrintsResource>("prints.aggregate"),
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
interface AuthorsOperations extends Readonly<(typeof operations)["authors"]> {}
interface Blog_postsOperations extends Readonly<(typeof operations)["blog_posts"]> {}
interface CommentsOperations extends Readonly<(typeof operations)["comments"]> {}
interface TagsOperations extends Readonly<(typeof operations)["tags"]> {}
interface EditionsOperations extends Readonly<(typeof operations)["editions"]> {}
interface PrintsOperations extends Readonly<(typeof operations)["prints"]> {}
interface WorkflowsOperations extends Readonly<(typeof operations)["workflows"]> {}
export interface Api {
  readonly authors: AuthorsOperations;
  readonly blog_posts: Blog_postsOperations;
  readonly comments: CommentsOperations;
  readonly tags: TagsOperations;
  readonly editions: EditionsOperations;
  readonly prints: PrintsOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = operations;

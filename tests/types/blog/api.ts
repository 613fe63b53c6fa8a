// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import {
  type AggregateQueryOf,
  type Conversions,
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
import type { WorkflowProcedures as Workflows } from "./generated/db.ts";
import type backend from "./index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;

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

// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.
interface AuthorsOperations {
  readonly list: ResourceQueryOf<Procedures["authors"]["list"], AuthorsResource>;
  readonly get: ResourceQueryOf<Procedures["authors"]["get"], AuthorsResource>;
  readonly create: MutationOf<Procedures["authors"]["create"]>;
  readonly update: MutationOf<Procedures["authors"]["update"]>;
  readonly remove: MutationOf<Procedures["authors"]["remove"]>;
  readonly aggregate: AggregateQueryOf<Procedures["authors"]["aggregate"], AuthorsResource>;
}
interface Blog_postsOperations {
  readonly list: ResourceQueryOf<Procedures["posts"]["list"], BlogPostsResource>;
  readonly get: ResourceQueryOf<Procedures["posts"]["get"], BlogPostsResource>;
  readonly create: MutationOf<Procedures["posts"]["create"]>;
  readonly update: MutationOf<Procedures["posts"]["update"]>;
  readonly remove: MutationOf<Procedures["posts"]["remove"]>;
}
interface CommentsOperations {
  readonly list: ResourceQueryOf<Procedures["comments"]["list"], CommentsResource>;
  readonly get: ResourceQueryOf<Procedures["comments"]["get"], CommentsResource>;
  readonly create: MutationOf<Procedures["comments"]["create"]>;
  readonly update: MutationOf<Procedures["comments"]["update"]>;
  readonly remove: MutationOf<Procedures["comments"]["remove"]>;
}
interface TagsOperations {
  readonly list: ResourceQueryOf<Procedures["tags"]["list"], TagsResource>;
  readonly get: ResourceQueryOf<Procedures["tags"]["get"], TagsResource>;
  readonly create: MutationOf<Procedures["tags"]["create"]>;
  readonly update: MutationOf<Procedures["tags"]["update"]>;
  readonly remove: MutationOf<Procedures["tags"]["remove"]>;
}
interface EditionsOperations {
  readonly list: ResourceQueryOf<Procedures["editions"]["list"], EditionsResource>;
  readonly get: ResourceQueryOf<Procedures["editions"]["get"], EditionsResource>;
  readonly create: MutationOf<Procedures["editions"]["create"]>;
  readonly update: MutationOf<Procedures["editions"]["update"]>;
  readonly remove: MutationOf<Procedures["editions"]["remove"]>;
}
interface PrintsOperations {
  readonly list: ResourceQueryOf<Procedures["prints"]["list"], PrintsResource>;
  readonly get: ResourceQueryOf<Procedures["prints"]["get"], PrintsResource>;
  readonly create: MutationOf<Procedures["prints"]["create"]>;
  readonly update: MutationOf<Procedures["prints"]["update"]>;
  readonly remove: MutationOf<Procedures["prints"]["remove"]>;
  readonly aggregate: AggregateQueryOf<Procedures["prints"]["aggregate"], PrintsResource>;
}
interface WorkflowsOperations {
  readonly list: QueryOf<Workflows["list"]>;
  readonly get: QueryOf<Workflows["get"]>;
  readonly signal: MutationOf<Workflows["signal"]>;
  readonly cancel: MutationOf<Workflows["cancel"]>;
  readonly retry: MutationOf<Workflows["retry"]>;
}
export interface Api {
  readonly authors: AuthorsOperations;
  readonly blog_posts: Blog_postsOperations;
  readonly comments: CommentsOperations;
  readonly tags: TagsOperations;
  readonly editions: EditionsOperations;
  readonly prints: PrintsOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = {
  authors: {
    list: query("authors.list", authorsColumns),
    get: query("authors.get", authorsColumns),
    create: mutation("authors.create", authorsColumns),
    update: mutation("authors.update", authorsColumns),
    remove: mutation("authors.remove", authorsColumns),
    aggregate: query("authors.aggregate"),
  },
  blog_posts: {
    list: query("blog_posts.list", blog_postsColumns),
    get: query("blog_posts.get", blog_postsColumns),
    create: mutation("blog_posts.create", blog_postsColumns),
    update: mutation("blog_posts.update", blog_postsColumns),
    remove: mutation("blog_posts.remove", blog_postsColumns),
  },
  comments: {
    list: query("comments.list", commentsColumns),
    get: query("comments.get", commentsColumns),
    create: mutation("comments.create", commentsColumns),
    update: mutation("comments.update", commentsColumns),
    remove: mutation("comments.remove", commentsColumns),
  },
  tags: {
    list: query("tags.list", tagsColumns),
    get: query("tags.get", tagsColumns),
    create: mutation("tags.create", tagsColumns),
    update: mutation("tags.update", tagsColumns),
    remove: mutation("tags.remove", tagsColumns),
  },
  editions: {
    list: query("editions.list"),
    get: query("editions.get"),
    create: mutation("editions.create"),
    update: mutation("editions.update"),
    remove: mutation("editions.remove"),
  },
  prints: {
    list: query("prints.list"),
    get: query("prints.get"),
    create: mutation("prints.create"),
    update: mutation("prints.update"),
    remove: mutation("prints.remove"),
    aggregate: query("prints.aggregate"),
  },
  workflows: {
    list: query("workflows.list"),
    get: query("workflows.get"),
    signal: mutation("workflows.signal"),
    cancel: mutation("workflows.cancel"),
    retry: mutation("workflows.retry"),
  },
} as never;

/**
 * A list of 20 articles with author, names of tags and the number of comments: one statement, against Drizzle's relational
 * query and against PostGraphile, under the same policies on the same rows, taking turns.
 */
import { join } from "node:path";
import { createSetting, type Setting, type User } from "./lists/setting.ts";
import { ask } from "./lists/sides.ts";
import { interleave, reportBeside } from "./measure.ts";
import { contestant, serverCpu } from "./process.ts";

const args = {
  select: ["id", "title", "createdAt"],
  include: {
    author: { select: ["name"] },
    tags: { select: ["name"] },
    _count: { comments: true },
  },
};

const graphql = `{
  allArticles(first: 20, orderBy: [CREATED_AT_DESC, ROW_ID_DESC]) {
    nodes {
      rowId title createdAt
      authorByAuthorId { name }
      articleTagsByArticleId { nodes { tagByTagId { name } } }
      commentsByArticleId { totalCount }
    }
  }
}`;

export async function run(): Promise<void> {
  const setting = await createSetting();
  const { cluster, svc } = setting;
  const file = join(import.meta.dirname, "peers/drizzle-related.ts");
  const given = [cluster.urls.request, `${svc.url}/api/auth/jwks`, svc.url];
  const drizzle = await contestant([file, ...given], { NODE_ENV: "production" });
  const peer = join(import.meta.dirname, "peers/postgraphile.ts");
  const postgraphile = await contestant([peer, ...given], { NODE_ENV: "production" });
  try {
    const user = await setting.user("user");
    await fill(setting);
    const bearer = ({ token }: User) => ({ authorization: `Bearer ${token}` });
    const sides = [
      { name: "svc", process: svc, headers: bearer, path: "/api/query", body: { name: "articles.list", args } },
      { name: "drizzle", process: drizzle, headers: bearer, path: "/articles", body: {} },
      { name: "postgraphile", process: postgraphile, headers: bearer, path: "/graphql", body: { query: graphql } },
    ];
    const answers = await Promise.all(sides.map((side) => ask<Page | Connection>(side, user, side)));
    const rows = answers.map((answer) => sorted("data" in answer ? fromConnection(answer) : answer.json.data));
    if (new Set(rows).size > 1) throw new Error("the answers differ");
    const runners = sides.map((side) => ({
      ...side,
      headers: side.headers(user) as Record<string, string>,
      body: () => JSON.stringify(side.body),
    }));
    const options = { rounds: 5, seconds: 2, databaseCpu: () => serverCpu(cluster) };
    reportBeside("20 articles with author, tags and comments", await interleave(runners, options));
  } finally {
    await Promise.all([drizzle.stop(), postgraphile.stop()]);
    await setting.close();
  }
}

interface Article {
  id: number;
  title: string;
  createdAt: string;
  author: { name: string };
  tags: { name: string }[];
  _count: { comments: number };
}
interface Page {
  json: { data: Article[] };
}

interface Node {
  rowId: number;
  title: string;
  createdAt: string;
  authorByAuthorId: { name: string };
  articleTagsByArticleId: { nodes: { tagByTagId: { name: string } }[] };
  commentsByArticleId: { totalCount: number };
}
interface Connection {
  data: { allArticles: { nodes: Node[] } };
}
const fromConnection = ({ data }: Connection): Article[] =>
  data.allArticles.nodes.map(({ rowId, title, createdAt, ...related }) => ({
    id: rowId,
    title,
    createdAt,
    author: related.authorByAuthorId,
    tags: related.articleTagsByArticleId.nodes.map(({ tagByTagId }) => tagByTagId),
    _count: { comments: related.commentsByArticleId.totalCount },
  }));

/** The peers do not order tags, and write times in other forms. */
function sorted(articles: Article[]): string {
  const rows = articles.map(({ createdAt, tags, ...row }) => ({
    ...row,
    createdAt: new Date(createdAt).getTime(),
    tags: tags.map(({ name }) => name).sort(),
  }));
  return JSON.stringify(rows.map((row) => Object.entries(row).sort()));
}

/** 5,000 articles of 200 authors, with 3 of 50 tags and 0 to 20 comments each. */
const fill = ({ admin }: Setting) =>
  admin.query(`
    insert into authors (user_id, name) select 'user' || n, 'author ' || n from generate_series(1, 200) as n;
    insert into tags (name) select 'tag ' || n from generate_series(1, 50) as n;
    insert into articles (user_id, author_id, title, body, created_at)
      select 'user' || n % 200, 1 + n % 200, 'article ' || n, repeat('text ', 200), now() - n * interval '1 minute'
        from generate_series(1, 5000) as n;
    insert into article_tags select a, 1 + (a * 7 + t * 13) % 50 from generate_series(1, 5000) as a, generate_series(1, 3) as t;
    insert into comments (user_id, article_id, body)
      select 'user' || n % 200, a, 'comment' from generate_series(1, 5000) as a, generate_series(1, a % 21) as n;
    analyze`);

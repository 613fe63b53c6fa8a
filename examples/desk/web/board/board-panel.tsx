/** The board: everybody reads it, account or not; the policies of `posts` let only the author change a post. */
import type { User } from "@svc/client";
import { useQuery } from "@svc/react";
import { useState } from "react";
import { Empty } from "../parts/empty.tsx";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { usePage } from "../parts/use-page.ts";
import { api } from "../svc/api.ts";
import { NewPost } from "./new-post.tsx";
import { PostItem } from "./post-item.tsx";

const limit = 5;

export function BoardPanel({ user }: { user: User | null }) {
  const [total, setTotal] = useState<number>();
  const [page, turn] = usePage(limit, total);
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery(
    api.posts.list,
    { page, limit },
    { placeholderData: (before) => before },
  );
  if (data && data.total !== total) setTotal(data.total);

  return (
    <section className="card" aria-labelledby="board-title">
      <div className="bar">
        <h2 id="board-title" tabIndex={-1}>
          Board
        </h2>
        <span className="count">Open to everyone</span>
      </div>
      {user && <NewPost onPublished={() => turn(1)} />}
      {isPending && <Skeleton rows={3} />}
      {error && !data && <Problem error={error} retry={refetch} />}
      {data?.data.length === 0 && (
        <Empty title="No posts yet.">{user ? "Write the first one." : "Sign in to write the first one."}</Empty>
      )}
      {!!data?.data.length && (
        <ul className="rows" aria-labelledby="board-title" aria-busy={isPlaceholderData}>
          {data.data.map((post) => (
            <PostItem key={post.id} post={post} mine={post.userId === user?.id} />
          ))}
        </ul>
      )}
      <Pager of="the board" page={page} limit={limit} total={data?.total ?? 0} onTurn={turn} />
    </section>
  );
}

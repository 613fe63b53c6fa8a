/** One post, and for its author the ways to change it. */
import type { OutputOf } from "@svc/client";
import { useMutation } from "@svc/react";
import { useState } from "react";
import { useAnnounce } from "../parts/announcer.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { api } from "../svc/api.ts";
import { PostForm } from "./post-form.tsx";

type Post = OutputOf<typeof api.posts.list>["data"][number];

const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function PostItem({ post, mine }: { post: Post; mine: boolean }) {
  const announce = useAnnounce();
  const [editing, setEditing] = useState(false);
  const update = useMutation(api.posts.update, { onSuccess: () => setEditing(false) });
  const remove = useMutation(api.posts.remove, {
    onSuccess() {
      announce(`Removed “${post.title}”.`);
      document.getElementById("board-title")?.focus();
    },
    onError: announce,
  });
  const name = `post-${post.id}`;

  if (editing) {
    return (
      <li className="post">
        <PostForm
          start={post}
          submit="Save"
          busy={update.isPending}
          error={update.error}
          onSubmit={(fields) => update.mutate({ id: post.id, ...fields })}
        >
          <button type="button" className="quiet" onClick={() => setEditing(false)}>
            Cancel
          </button>
        </PostForm>
      </li>
    );
  }
  return (
    <li className="post" aria-busy={remove.isPending}>
      <article>
        <h3 id={name}>{post.title}</h3>
        {post.body && <p className="body">{post.body}</p>}
        <div className="actions">
          <time dateTime={post.createdAt.toISOString()}>{date.format(post.createdAt)}</time>
          {mine && (
            <>
              <button type="button" className="quiet" aria-describedby={name} onClick={() => setEditing(true)}>
                Edit
              </button>
              <ConfirmButton
                label="Remove"
                question="Remove?"
                describedBy={name}
                onConfirm={() => remove.mutate({ id: post.id })}
              />
            </>
          )}
        </div>
      </article>
    </li>
  );
}

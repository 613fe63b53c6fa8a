/** Writing a post: folded away until somebody wants to. */
import { useMutation } from "@svc/react";
import { useRef } from "react";
import { useAnnounce } from "../parts/announcer.tsx";
import { api } from "../svc/api.ts";
import { PostForm } from "./post-form.tsx";

export function NewPost({ onPublished }: { onPublished: () => void }) {
  const announce = useAnnounce();
  const fold = useRef<HTMLDetailsElement>(null);
  const create = useMutation(api.posts.create, {
    onSuccess(_post, { title }) {
      fold.current?.querySelector("form")?.reset();
      fold.current?.removeAttribute("open");
      fold.current?.querySelector("summary")?.focus();
      announce(`Published “${title}”.`);
      onPublished();
    },
  });
  return (
    <details ref={fold}>
      <summary>Write a post</summary>
      <PostForm
        submit="Publish"
        busy={create.isPending}
        error={create.error}
        onSubmit={(post) => create.mutate(post)}
      />
    </details>
  );
}

/** The page as text. Everything that people have written passes through `escapeHtml`. */
import type { User } from "@svc/client/server";

export interface PageData {
  backendUrl: string;
  /** null: nobody is signed in. */
  user: User | null;
  /** null: the backend did not answer. */
  motto: string | null;
  notes: string[] | null;
}

export function page({ backendUrl, user, motto, notes }: PageData): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${user ? "Your notes" : "Sign in"} · Bridge</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/browser/style.css">
    <script type="module" src="/browser/main.ts"></script>
  </head>
  <body data-backend="${escapeHtml(backendUrl)}">
    <header>
      <h1>Bridge</h1>
      ${user ? `<p>${escapeHtml(user.name)} <button type="button" id="sign-out" class="quiet">Sign out</button></p>` : ""}
    </header>
    <main>
      <p class="soft">${motto === null ? "The backend does not answer at the moment." : escapeHtml(motto)}</p>
      ${user ? notesSection(notes) : signInSection}
      <p id="problem" class="problem" role="alert"></p>
      <noscript><p>Signing in needs JavaScript. Reading does not: a signed-in page comes rendered.</p></noscript>
    </main>
  </body>
</html>
`;
}

const signInSection = `<section aria-labelledby="title">
        <h2 id="title">Sign in, or begin</h2>
        <form id="sign-in" method="post">
          <label>Email <input name="email" type="email" autocomplete="email" required></label>
          <label>Password <input name="password" type="password" autocomplete="current-password" required minlength="8" maxlength="128" aria-describedby="hint"></label>
          <small id="hint" class="soft">8 to 128 characters.</small>
          <div class="buttons">
            <button type="submit" value="in">Sign in</button>
            <button type="submit" value="up" class="quiet">Create an account</button>
          </div>
        </form>
      </section>`;

function notesSection(notes: string[] | null): string {
  return `<section aria-labelledby="title">
        <h2 id="title">Your notes</h2>
        <form id="add" method="post">
          <label>New note <input name="text" required pattern=".*\\S.*" maxlength="200" autocomplete="off"></label>
          <button type="submit">Add</button>
        </form>
        <ul id="notes">${(notes ?? []).map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul>
        <p id="empty" class="soft"${notes?.length === 0 ? "" : " hidden"}>Nothing here yet. Add the first note.</p>
      </section>`;
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] as string);

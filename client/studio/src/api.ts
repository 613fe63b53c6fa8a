/** Calls of Studio's API. The secret stays in this tab; the token of the address is redeemed once. */

const place = "svc studio";

class StudioError extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor({ error, code, hint }: { error: string; code: string; hint?: string }) {
    super(error);
    this.code = code;
    this.hint = hint;
  }
}

/** @throws StudioError as the server answers; one with a hint when it cannot be reached */
export async function ask<Result>(name: string, input: object = {}): Promise<Result> {
  const response = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${sessionStorage.getItem(place) ?? ""}` },
    body: JSON.stringify(input),
  }).catch(() => {
    const hint = "Is svc dev or svc studio still running?";
    throw new StudioError({ error: "Studio does not answer.", code: "UNAVAILABLE", hint });
  });
  const body = await response.json();
  if (!response.ok) throw new StudioError(body);
  return body;
}

/** Redeems the token of the address, if there is one, and removes it from the address. */
export async function enter(): Promise<void> {
  const [, token] = /^#([\w-]{43})$/.exec(location.hash) ?? [];
  if (!token) return;
  history.replaceState(null, "", location.pathname + location.search);
  const { secret } = await ask<{ secret: string }>("redeem", { token });
  sessionStorage.setItem(place, secret);
}

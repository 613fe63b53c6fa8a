/** GitHub's part of a sign-in, as a GitHub Enterprise Server has it: the exchange of a code, and two paths of the API. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface GitHubAccount {
  user: Record<string, unknown>;
  /** Absent: the token may not read addresses. */
  emails?: { email: string; primary: boolean; verified: boolean }[];
}

export interface GitHub {
  url: string;
  /** Forms that the token endpoint received. */
  exchanges: URLSearchParams[];
  /** By code. A number is the status of each answer of the API. */
  accounts: Map<string, GitHubAccount | number>;
  close(): void;
}

export async function startGitHub(): Promise<GitHub> {
  const exchanges: URLSearchParams[] = [];
  const accounts: GitHub["accounts"] = new Map();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const answer = (status: number, value: unknown) =>
      response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value));
    if (request.url === "/login/oauth/access_token") {
      const form = new URLSearchParams(body);
      exchanges.push(form);
      const code = form.get("code") ?? "";
      // GitHub answers 200 also when it refuses.
      if (!accounts.has(code)) return answer(200, { error: "bad_verification_code", error_description: "…" });
      return answer(200, { access_token: `gho_${code}`, token_type: "bearer", scope: "read:user,user:email" });
    }
    const code = /^Bearer gho_(.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const account = accounts.get(code);
    if (typeof account === "number") return answer(account, { message: "No" });
    if (!account || !request.headers["user-agent"]) return answer(401, { message: "Bad credentials" });
    if (request.url === "/api/v3/user") return answer(200, account.user);
    if (request.url !== "/api/v3/user/emails") return answer(404, { message: "Not Found" });
    return account.emails ? answer(200, account.emails) : answer(403, { message: "Resource not accessible" });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    exchanges,
    accounts,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

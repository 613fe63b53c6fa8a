/** What a coding agent's configuration needs to ask a Studio: `svc mcp --http` and `svc studio --mcp` print it. */

interface AgentAccess {
  url: string;
  headers: { Authorization: string };
}

/** @param origin of Studio */
export const agentAccess = (origin: string, secret: string): AgentAccess => ({
  url: `${origin}/mcp`,
  headers: { Authorization: `Bearer ${secret}` },
});

export const describeAccess = ({ url, headers: { Authorization } }: AgentAccess): string =>
  `For Claude Code:
  claude mcp add --transport http svc ${url} --header "Authorization: ${Authorization}"
Other agents need the address and the header:
  ${url}
  Authorization: ${Authorization}
`;

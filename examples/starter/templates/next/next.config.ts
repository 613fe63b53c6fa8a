import type { NextConfig } from "next";

// `svc dev` says where the service answers. `next build` writes it into what it builds.
const { SVC_URL } = process.env;

export default {
  // `npm run typecheck` looks at the whole application.
  typescript: { ignoreBuildErrors: true },
  // What no page and no route of Next answers.
  rewrites: async () => ({
    fallback: [
      { source: "/api/:path*", destination: `${SVC_URL}/api/:path*` },
      { source: "/ws", destination: `${SVC_URL}/ws` },
    ],
  }),
} satisfies NextConfig;

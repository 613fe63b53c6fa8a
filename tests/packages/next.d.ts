/** What the starter's Next template takes from Next, which is not among the repository's packages. `next.test.ts` has it. */
declare module "next" {
  export interface Metadata {
    title?: string;
    icons?: string;
  }
  export interface NextConfig {
    typescript?: { ignoreBuildErrors?: boolean };
    rewrites?: () => Promise<{ fallback: { source: string; destination: string }[] }>;
  }
}
declare module "*.css";

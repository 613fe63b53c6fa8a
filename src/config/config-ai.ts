/** The keys `ai` and `documents` of `svc.config.ts`: models, providers and cost limits. */
import { z } from "zod";
import { must } from "../kit/options.ts";
import { milliseconds, whole } from "./config-rules.ts";

const model = (name: string) =>
  z
    .string(must(`a model's name, such as "${name}"`))
    .min(1, must("a model's name"))
    .default(name);
const hostedEndpoint = () =>
  z
    .strictObject({
      /** For an endpoint with OpenAI's protocol. */
      baseUrl: z.url({ protocol: /^https?$/, ...must("a URL such as https://ai.example.com/v1") }),
      apiKey: z.string().optional(),
      model: z.string(must("a model's name")).min(1, must("a model's name")),
      /** The price of a page. */
      creditsPerPage: z.number(must("a number of credits")).nonnegative(must("a number of credits from 0")),
      /** (Default: asks for the whole text as Markdown) */
      prompt: z.string().optional(),
      /** For one call, in milliseconds. (Default: 120000) */
      timeMs: milliseconds().optional(),
    })
    .optional();
/** The models and their cost limits. */
export const aiSection = z
  .strictObject({
    /** For chat and stream. (Default: "gpt-4o-mini") */
    chatModel: model("gpt-4o-mini"),
    /** (Default: "local-hash", which compares words, not meaning) */
    embeddingModel: model("local-hash"),
    /** Dimensions of an embedding. (Default: 384, those of local-hash) */
    embeddingDimensions: whole(1, 16_000, "numbers", 384).default(384),
    /** (Default: "local-hash") */
    rerankModel: model("local-hash"),
    /** (Default: "local-tesseract") */
    visionModel: model("local-tesseract"),
    /** (Default: "local-espeak") */
    speechModel: model("local-espeak"),
    /** (Default: "local-pocketsphinx") */
    transcriptionModel: model("local-pocketsphinx"),
    /** Timeout of one attempt at a provider, in milliseconds. (Default: 60000) */
    timeoutMs: milliseconds().default(60_000),
    /** Maximum cost of one request, in credits. (Default: 100) */
    creditsPerRequest: z.number(must("a number of credits")).positive(must("a number of credits above 0")).default(100),
    /** Maximum spending of a user in 24 hours, in credits; false: no limit. (Default: false) */
    creditsPerUserPerDay: z
      .union([z.literal(false), z.number().positive()], must("a number of credits above 0, or false for no limit"))
      .default(false),
  })
  .prefault({});

/** Providers that convert documents when this machine's programs fail. */
export const documentsSection = z
  .strictObject({
    /** Maximum cost of a conversion that sets no cap, in credits. (Default: 100) */
    defaultCap: z.number(must("a number of credits")).nonnegative(must("a number of credits from 0")).default(100),
    /** Endpoints of hosted providers, tried in this order. (Default: none) */
    hosted: z
      .strictObject({ custom_vlm: hostedEndpoint(), hosted_ai_a: hostedEndpoint(), hosted_ai_b: hostedEndpoint() })
      .prefault({}),
  })
  .prefault({});

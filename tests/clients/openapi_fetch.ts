// openapi_fetch.ts - a program on the types of openapi-typescript; it must compile, and it runs.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { env: Record<string, string | undefined> };
const client = createClient<paths>({
    baseUrl: process.env["URL_"] ?? "http://127.0.0.1:7077",
    headers: { authorization: `Bearer ${process.env["TOKEN"]}` },
});
const written = await client.POST("/v1/facts", { body: { key: "city", value: "Oslo" } });
if (written.error) throw new Error(written.error.detail);
const outcome: string = written.data.outcome;
const { data } = await client.GET("/v1/facts", { params: { query: { prefix: "c", limit: 10 } } });
for (const fact of data?.facts ?? []) console.log(outcome, fact.value);

// @ts-expect-error A value is missing.
await client.POST("/v1/facts", { body: { key: "city" } }).catch(() => {});
// @ts-expect-error No such route.
await client.GET("/v1/fact").catch(() => {});

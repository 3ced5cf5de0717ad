// openapi_hey.ts - a program on the client that hey-api generates; it must compile.
import { factList, factWrite } from "./hey/index.js";
import { client } from "./hey/client.gen.js";

client.setConfig({ baseUrl: "http://127.0.0.1:7077", auth: "token" });
const written = await factWrite({ body: { key: "city", value: "Oslo" } });
if (written.data) console.log(written.data.outcome);
const { data } = await factList({ query: { prefix: "c", limit: 10 } });
for (const fact of data?.facts ?? []) console.log(fact.key.toUpperCase(), fact.value);

// @ts-expect-error A value is missing.
await factWrite({ body: { key: "city" } });

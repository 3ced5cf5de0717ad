// natural.cts - the client from a CommonJS module; it must compile under `tsc --strict`.
import { Loci } from "loci-client";
import loci = require("loci-client");

async function main(): Promise<void> {
    const client: Loci = new loci.Loci({ socket: "/run/loci.sock" });
    const fact = await client.fact.current({ key: "city" });
    console.log(fact.status === "valid" ? fact.value : null, loci.VERSION);
}
void main();

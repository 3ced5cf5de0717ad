// langgraph_suite.mjs - LangGraph's own suite on our checkpointer, run by vitest. Each checkpointer
// has a user of its own.
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { Loci } from "loci-client";
import { LociSaver } from "loci-client/langgraph";

let count = 0;

validate({
    checkpointerName: "loci",
    createCheckpointer() {
        const loci = new Loci({ url: process.env.URL_, token: process.env.TOKEN });
        return new LociSaver(loci, { userId: `suite-${process.pid}-${count++}` });
    },
});

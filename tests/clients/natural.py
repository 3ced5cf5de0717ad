"""natural.py - programs as people write them; a strict type checker must accept them."""
import asyncio
from typing import List

from loci_client import AsyncLoci, Loci, LociError
from loci_client.types import Fact, MemoryHit


def main() -> None:
    with Loci("http://127.0.0.1:7077", token="t", user_id="anna") as loci:
        written = loci.fact.write("city", "Oslo", source="user")
        print(written["id"], written["outcome"] == "created")
        facts: List[Fact] = list(loci.fact.list_all(prefix="user.", limit=100))
        print(len(facts))
        hits: List[MemoryHit] = loci.memory.recall("where does Anna live?", limit=5)["results"]
        print([hit["text"] for hit in hits])
        text = loci.context.build("Where do I live?", budget=500)["text"]
        print(text.upper())
        with loci.event.stream(after_seq=0) as events:
            for message in events:
                if message.event is not None:
                    print(message.event["seq"] + 1)
        try:
            loci.with_options(timeout=1, retries=0).fact.get("fact_1")
        except LociError as error:
            print(error.code, error.hint, error.retry_after_ms, error.details.get("head_seq"))


async def later() -> None:
    async with AsyncLoci() as loci:
        await loci.session.append(role="user", text="hello")
        async for fact in loci.fact.list_all():
            print(fact["key"])


main()
asyncio.run(later())

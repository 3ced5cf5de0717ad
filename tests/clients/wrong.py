"""wrong.py - mistakes that a type checker must find, one per line."""
from loci_client import Loci

loci = Loci()
loci.fact.write("city")
loci.fact.write("city", "Oslo", scope="planet")
loci.fact.list(limits=3)
print(loci.fact.write("city", "Oslo")["outcom"])
loci.fact.writ("city", "Oslo")

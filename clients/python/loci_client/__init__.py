"""Client of loci, the state engine for AI agents.

    from loci_client import Loci

    loci = Loci("http://127.0.0.1:7077", token=token)
    loci.fact.write("city", "Oslo")
    print(loci.fact.current("city")["value"])
"""

from . import types
from ._caller import EventStream, StreamMessage
from .async_client import AsyncLoci
from .client import Loci
from .errors import LociConnectionError, LociError, LociTimeoutError
from .types import VERSION as __version__

__all__ = ["AsyncLoci", "EventStream", "Loci", "LociConnectionError", "LociError",
           "LociTimeoutError", "StreamMessage", "__version__", "types"]

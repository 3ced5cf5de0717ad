"""build_wheel.py [DIRECTORY] - write the wheel of the client to DIRECTORY (default: dist).

Needs only the standard library. It is also the build backend of pyproject.toml (PEP 517), so that
`pip install clients/python` works without a network. The same sources give the same bytes.
"""

import base64
import hashlib
import os
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.realpath(__file__))
PACKAGE = "loci_client"


def project():
    """The texts of [project] in pyproject.toml; Python before 3.11 has no parser for it."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        table = file.read().split("[project]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([a-z-]+) = "(.*)"$', table, re.MULTILINE))


def metadata(facts):
    with open(os.path.join(HERE, facts["readme"]), encoding="utf-8") as file:
        readme = file.read()
    return ("Metadata-Version: 2.1\nName: %(name)s\nVersion: %(version)s\n"
            "Summary: %(description)s\nLicense: %(license)s\n"
            "Requires-Python: %(requires-python)s\n"
            "Description-Content-Type: text/markdown\n\n" % facts + readme)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    facts = project()
    name = "%s-%s" % (PACKAGE, facts["version"])
    contents = {}
    for file_name in sorted(os.listdir(os.path.join(HERE, PACKAGE))):
        if file_name.endswith(".py") or file_name == "py.typed":
            with open(os.path.join(HERE, PACKAGE, file_name), "rb") as file:
                contents["%s/%s" % (PACKAGE, file_name)] = file.read()
    info = name + ".dist-info/"
    contents[info + "METADATA"] = metadata(facts).encode()
    contents[info + "WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: build_wheel.py\n"
                                b"Root-Is-Purelib: true\nTag: py3-none-any\n")
    record = ""
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (path, digest, len(data))
    contents[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = name + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            out.writestr(entry, data)
    return wheel


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "dist")
    os.makedirs(target, exist_ok=True)
    print(os.path.join(target, build_wheel(target)))

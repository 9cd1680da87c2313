"""The curl lines of the pages, run against `gatewayd demo` as a reader would.

Where a command stands alone in its fence and a fence without a language follows,
that is what it prints: line by line, with ... for anything, also for whole lines.
DEMO and ADMIN are the base URLs of the demo, which the pages call by the ports that
it takes when they are free.
"""

import os
import re
import shlex
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": 3, "docs/operations.md": 1}  # with the least number of lines that are found
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CURL = 'curl() { command curl --silent --show-error --fail --max-time 60 "$@"; }\n'
PLACES = {"http://127.0.0.1:8080": "DEMO", "http://127.0.0.1:9090": "ADMIN"}


def whole(command):
    """Whether quotes are closed and no line is to follow."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return not command.endswith("\\\n")


def commands(script):
    """The commands of a shell script that begin with curl."""
    found, open_ = [], ""
    for line in script.splitlines(keepends=True):
        if open_ or line.startswith("curl "):
            open_ += line
            if whole(open_):
                found.append(open_.strip())
                open_ = ""
    return found


def lines(page):
    """The curl lines of a page, each with what the page says that it prints, or None."""
    fences = list(FENCE.finditer(page))
    for fence, after in zip(fences, fences[1:] + [None]):
        if fence[1] != "sh":
            continue
        found = commands(fence[2])
        alone = len(found) == 1 and fence[2].strip() == found[0]
        said = alone and after and after[1] == "" and not page[fence.end():after.start()].strip()
        yield from ((command, after[2] if said else None) for command in found)


def pattern(said):
    parts = []
    for line in said.splitlines(keepends=True):
        parts.append("(?:.*\n)*?" if line == "...\n" else ".*?".join(map(re.escape, line.split("..."))))
    return re.compile("".join(parts))


class Test(unittest.TestCase):
    def test_pages(self):
        for name, least in PAGES.items():
            found = list(lines((ROOT / name).read_text()))
            self.assertGreaterEqual(len(found), least, f"curl lines in {name}")
            for command, said in found:
                with self.subTest(page=name, command=command):
                    self.run_one(command, said)

    def run_one(self, command, said):
        for place, variable in PLACES.items():
            command = command.replace(place, os.environ[variable])
        ended = subprocess.run(["bash", "-c", CURL + command], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended.stdout)
        self.assertTrue(ended.stdout.strip(), "it prints nothing")
        if said is not None:
            self.assertRegex(ended.stdout.replace("\r\n", "\n").rstrip("\n") + "\n", pattern(said).pattern)

    def test_reads_pages(self):
        page = "```sh\ncurl a \\\n  -d '{\n}'\n```\n\n```\n{...}\n...\nend\n```\n\n```sh\nmake\ncurl b\n```\n```\nnot of curl alone\n```\n"
        found = list(lines(page))
        self.assertEqual(found, [("curl a \\\n  -d '{\n}'", "{...}\n...\nend\n"), ("curl b", None)])
        self.assertRegex("{1}\nx\ny\nend\n", pattern(found[0][1]))
        self.assertNotRegex("{1}\nx\ny\nlast\n", pattern(found[0][1]))


if __name__ == "__main__":
    unittest.main()

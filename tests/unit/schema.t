#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""docs/report.schema.json takes what kwitness writes, and refuses what it would never write."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITER = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "unit" / "test_report_json"

count = 0
failed = 0


def ok(passed, description, why=""):
    global count, failed
    count += 1
    print(f"{'ok' if passed else 'not ok'} {count} - {description}")
    if not passed:
        failed += 1
        print("".join(f"# {line}\n" for line in str(why).splitlines()), end="")


def complaint(validator, document):
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return error and f"{list(error.absolute_path)}: {error.message}"


def written():
    """The reports that the unit test writes, by name."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([WRITER, "--write", directory], check=True)
        return {path.stem: json.loads(path.read_bytes().decode("utf-8")) for path in pathlib.Path(directory).iterdir()}


def damaged(full):
    """Documents that kwitness must never write: what was done, and the result."""
    def damage(description, change):
        document = copy.deepcopy(full)
        change(document)
        return description, document

    for key in full:
        yield damage(f"without {key}", lambda document, key=key: document.pop(key))
    for path in ([], ["cost"], ["command"], ["invariants", 0], ["invariants", 3, "probes", 0], ["violations", 0],
                 ["violations", 0, "history", 0]):
        def add(document, path=path):
            for step in path:
                document = document[step]
            document["unheard_of"] = 1
        yield damage(f"a key too many in {path}", add)
    yield damage("error and verdict", lambda document: document.update(error="no BTF"))
    yield damage("a verdict of its own", lambda document: document.update(verdict="fine"))
    yield damage("a negative count", lambda document: document["invariants"][0].update(evaluated=-1))
    yield damage("a count in quotes", lambda document: document["lost"].update(records="2"))
    yield damage("a value that is a fraction", lambda document: document["violations"][0]["values"].update(waker=1.5))
    yield damage("a stack of numbers", lambda document: document["violations"][0].update(stack=[42]))


def main():
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    reports = written()
    ok(set(reports) == {"full", "quiet", "failed", "failed_to_start_command"}, "the reports were written", reports)
    for name, document in sorted(reports.items()):
        why = complaint(validator, document)
        ok(why is None, f"takes the report '{name}'", why)
    for description, document in damaged(reports["full"]):
        ok(complaint(validator, document) is not None, f"refuses {description}")
    print(f"1..{count}")
    return failed != 0


sys.exit(main())

"""What tests/publish/schema.sh asks about docs/formats/report.schema.json.

schema.py valid SCHEMA FILE...    the documents conform
schema.py refused SCHEMA FILE...  none of them does
schema.py fields SCHEMA ROOT      the columns in the sources have their type in it
"""

import json
import pathlib
import re
import sys

import jsonschema


def errors(schema, names):
    """Each document with its errors."""
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in names:
        with open(name, encoding="utf-8") as file:
            yield name, list(validator.iter_errors(json.load(file)))


def valid(schema, names):
    found = 0
    for name, wrong in errors(schema, names):
        for error in wrong:
            found += 1
            print(f"{name}: {error.json_path}: {error.message[:200]}")
    return found


def refused(schema, names):
    found = 0
    for name, wrong in errors(schema, names):
        if not wrong:
            found += 1
            print(f"{name}: is taken for right")
    return found


# Name, title, perhaps more texts, type: as tables of columns and report_column()
# have it. Names that are made at run time are for the documents to show.
COLUMN = re.compile(
    r'"([a-z][a-z0-9_]*)",\s*(?:"[^"]*"|[\w>\[\]. ()-]+),\s*(?:"[^"]*",\s*)?COLUMN_([A-Z]+)'
)


def fields(schema, root):
    values = schema["$defs"]["values"]["properties"]
    known = {
        name: {each["$ref"].rsplit("/", 1)[1] for each in value.get("anyOf", [value])}
        for name, value in values.items()
    }
    found = seen = 0
    for file in sorted(root.glob("lib/*/*.c")) + sorted(root.glob("sacct-ext/*/*.c")):
        text = re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8"))
        for name, kind in COLUMN.findall(text):
            seen += 1
            kind = "TEXT" if kind == "WORDS" else kind
            if kind.lower() not in known.get(name, ()):
                found += 1
                print(f"{file}: {name} is {kind.lower()}, not {known.get(name)}")
    if seen < 200:
        print(f"only {seen} columns found: the pattern no longer fits the sources")
        return 1
    return found


with open(sys.argv[2], encoding="utf-8") as schema_file:
    the_schema = json.load(schema_file)
if sys.argv[1] == "fields":
    sys.exit(fields(the_schema, pathlib.Path(sys.argv[3])) > 0)
sys.exit({"valid": valid, "refused": refused}[sys.argv[1]](the_schema, sys.argv[3:]) > 0)

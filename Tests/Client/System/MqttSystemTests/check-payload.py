"""Checks JSON texts against a JSON schema.

Usage: check-payload.py SCHEMA TEXT…
"""
import json
import sys

import jsonschema

with open(sys.argv[1]) as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
errors = [f"{text}: {error.message}" for text in sys.argv[2:] for error in validator.iter_errors(json.loads(text))]
print("\n".join(errors) or "valid")
sys.exit(1 if errors else 0)

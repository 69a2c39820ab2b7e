"""A provider of notes, kept as files, on a framework for providers in Python. Served over protocol 6."""

import hashlib
import json
import os
import sys

from cryptography.hazmat.primitives.asymmetric import rsa
from tf.iface import DataSource, Provider, Resource
from tf.runner import run_provider
from tf.schema import Attribute, Schema
from tf.types import List, Map, Number, Set, String, Unknown


class NotesProvider(Provider):
    def __init__(self):
        self.folder = None

    def get_model_prefix(self):
        return "notes_"

    def full_name(self):
        return "registry.terraform.io/nivis/notes"

    def get_provider_schema(self, diags):
        return Schema(attributes=[Attribute("folder", String(), required=True)])

    def validate_config(self, diags, config):
        pass

    def configure_provider(self, diags, config):
        self.folder = config["folder"]
        os.makedirs(self.folder, exist_ok=True)

    def get_resources(self):
        return [Note]

    def get_data_sources(self):
        return [Found]


class Node:
    def __init__(self, provider):
        self.provider = provider

    def path(self, name):
        return os.path.join(self.provider.folder, name)

    def load(self, name):
        """The fields of a note, None if there is no such note."""
        try:
            with open(self.path(name)) as file:
                return json.load(file)
        except FileNotFoundError:
            return None


class Note(Node, Resource):
    @classmethod
    def get_name(cls):
        return "note"

    @classmethod
    def get_schema(cls):
        return Schema(
            attributes=[
                Attribute("name", String(), required=True, requires_replace=True),
                Attribute("lines", List(String()), required=True),
                Attribute("labels", Set(String()), optional=True),
                Attribute("numbers", Map(Number()), optional=True),
                Attribute("color", String(), optional=True, computed=True, default="yellow"),
                Attribute("sha256", String(), computed=True),
            ]
        )

    def save(self, planned):
        text = "\n".join(planned["lines"])
        note = {**planned, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        with open(self.path(note["name"]), "w") as file:
            json.dump(note, file)
        return note

    def plan(self, ctx, current, planned):
        if "lines" in ctx.changed_fields:
            planned["sha256"] = Unknown
        return planned

    def create(self, ctx, planned):
        return self.save(planned)

    def read(self, ctx, current):
        return self.load(current["name"])

    def update(self, ctx, current, planned):
        return self.save(planned)

    def delete(self, ctx, current):
        os.remove(self.path(current["name"]))

    def import_(self, ctx, id):
        return self.load(id)

    def upgrade(self, ctx, version, old):
        return old


class Found(Node, DataSource):
    @classmethod
    def get_name(cls):
        return "found"

    @classmethod
    def get_schema(cls):
        return Schema(
            attributes=[
                Attribute("name", String(), required=True),
                Attribute("lines", List(String()), computed=True),
            ]
        )

    def read(self, ctx, config):
        note = self.load(config["name"])
        if note is None:
            ctx.diagnostics.add_error("No such note", f"there is no note {config['name']!r}")
            return None
        return {"name": note["name"], "lines": note["lines"]}


def main():
    # The framework makes RSA keys of 1024 bits for its TLS, which libraries that keep to the minimum of today refuse.
    make_key = rsa.generate_private_key
    rsa.generate_private_key = lambda public_exponent, key_size: make_key(public_exponent, max(key_size, 2048))
    run_provider(NotesProvider(), sys.argv)

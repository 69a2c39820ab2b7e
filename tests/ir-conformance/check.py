#!/usr/bin/env python3
"""The reference behaviour of reading an IR document (docs/IR-CONTRACT.md, "Validation").

    check.py test                every fixture gives the verdict it should
    check.py validate FILE...    prints what is wrong with documents ("-" for standard input), each line after the name of
                                 its file if there are several; exit status 1 if anything is

Errors read `at <JSON pointer without the leading slash>: <message>`. They come in layers, of which the first that finds
something is told: JSON text, nesting and repeated keys; the schema version; docs/ir-schema.json; how elements fit together.

Needs the package of requirements.txt.
"""

import json
import re
import sys
from collections import deque
from decimal import Decimal, InvalidOperation
from pathlib import Path

from jsonschema import Draft202012Validator

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent.parent / "docs" / "ir-schema.json"
MARKERS = ["__ref", "__derived", "__sensitiveRef", "__build", "__object"]
EXPANSION_KEYS = ["count", "for_each", "forEach"]
MAX_DEPTH = 100
MAX_NUMBER_DIGITS = 10_000
MAX_CANDIDATES = 200


class IrError(Exception):
    """One or more problems: a list of (path of the element, message)."""

    def __init__(self, problems):
        super().__init__(problems)
        self.problems = problems

    def lines(self):
        problems = {(on_one_line(pointer(path)), on_one_line(message)) for path, message in self.problems}
        return [f"at {at}: {message}" for at, message in sorted(problems)]


def on_one_line(text):
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda control: f"\\u{ord(control[0]):04x}", text)


def pointer(path):
    steps = [str(step).replace("~", "~0").replace("/", "~1") for step in path]
    return "/".join(steps) or "<root>"


# --- Layer 1: JSON text


class Refused:
    """Stands in a tree for what JSON allows and the IR does not."""

    def __init__(self, why):
        self.why = why


def unique_members(pairs):
    members = {}
    for key, value in pairs:
        members[key] = Refused("duplicate key") if key in members else value
    return members


def exact_number(text):
    try:
        number = Decimal(text)
    except InvalidOperation:
        return Refused("number out of range")
    digits = number.normalize().as_tuple().digits if number else ()
    if number and (abs(number.adjusted() + 1) > MAX_NUMBER_DIGITS or len(digits) > MAX_NUMBER_DIGITS):
        return Refused("number out of range")
    is_integer = number == number.to_integral_value() if number.adjusted() < 19 else False
    return int(number) if is_integer else number


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def parse(text):
    sys.setrecursionlimit(50_000)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    try:
        tree = json.loads(
            text,
            object_pairs_hook=unique_members,
            parse_float=exact_number,
            parse_int=exact_number,
            parse_constant=no_constant,
        )
    except (ValueError, RecursionError) as error:
        raise IrError([([], f"not JSON: {error}")]) from error
    problems = list(refused(tree, [], 1))
    if problems:
        raise IrError(problems)
    return tree


def refused(tree, at, depth):
    if isinstance(tree, Refused):
        yield at, tree.why
    elif isinstance(tree, (dict, list)) and depth > MAX_DEPTH:
        yield at, f"nested deeper than {MAX_DEPTH} levels"
    elif isinstance(tree, (dict, list)):
        for step, item in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from refused(item, [*at, step], depth + 1)


# --- Layers 2 and 3: the schema


def check_schema(ir, validator):
    errors = list(validator.iter_errors(ir))
    version = [e for e in errors if list(e.absolute_path) == ["schemaVersion"]]
    problems = [p for error in version or errors for p in explain(error)]
    if problems:
        raise IrError(problems)


def explain(error):
    """(path, message) pairs for one error of the jsonschema package."""
    at, found = list(error.absolute_path), error.instance
    if error.validator == "required":
        yield at, error.message
    elif error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        for key in found:
            if key in EXPANSION_KEYS:
                yield at, f"'{key}' is not part of the IR: instances are expanded in Nix"
            elif key not in known:
                yield at, f"unknown key '{key}'{suggest(key, known)}"
    elif error.validator == "maxProperties":
        marker = marker_in(found)
        other = min(key for key in found if key != marker)
        yield at, f"'{marker}' beside '{other}'; wrap the object in '__object' if both are data"
    else:
        expected = error.schema.get("errorMessage") or error.schema["type"]
        yield at, f"expected {expected}, found {describe(found)}"


def marker_in(value):
    return next((m for m in MARKERS if m in value), None)


def describe(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value}'" if len(value) <= 60 else "string"
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return str(value)
    if isinstance(value, list):
        return "array" if value else "empty array"
    if isinstance(value, dict):
        marker = marker_in(value)
        return f"'{marker}' marker" if marker else "object" if value else "empty object"
    return "number"


def suggest(word, candidates):
    size = len(word.encode())
    scored = ((distance(word, c), c) for c in candidates)
    near = [(d, c) for d, c in scored if d * 3 <= max(size, len(c.encode()))]
    return f"; did you mean '{min(near)[1]}'?" if near else ""


def distance(a, b):
    """Damerau's and Levenshtein's: insertions, deletions, replacements, swaps of neighbours."""
    far = len(a) + len(b)
    rows = {-1: [far] * (len(b) + 2), 0: [far, *range(len(b) + 1)]}
    last_row = {}
    for i, x in enumerate(a, 1):
        rows[i] = [far, i]
        last_column = 0
        for j, y in enumerate(b, 1):
            swap = rows[last_row.get(y, 0) - 1][last_column] + (i - last_row.get(y, 0) - 1) + 1 + (j - last_column - 1)
            rows[i].append(min(rows[i - 1][j] + (x != y), rows[i][j] + 1, rows[i - 1][j + 1] + 1, swap))
            if x == y:
                last_column = j
        last_row[x] = i
    return rows[len(a)][-1]


# --- Layer 4: how elements fit together. Each rule is a generator of (path, message).


def declared(ir):
    for key in ("resources", "dataSources", "ephemeral", "calls"):
        for i, item in enumerate(ir.get(key, [])):
            yield [key, i], item


def declared_ids(ir):
    """What references may name: resources, data sources, and the executor's own object with the sensitive variables."""
    return {item["id"] for _, item in declared(ir)} | ({"var"} if "variables" in ir else set())


def show(target):
    return ".".join([target["resource"], *map(str, target["path"])])


def leaves(value, at):
    """(path, marker, body) of every leaf marker in a tree."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, [*at, i])
    elif isinstance(value, dict):
        marker = marker_in(value)
        if marker in (None, "__object"):
            inner, at = (value, at) if marker is None else (value[marker], [*at, marker])
            for key, item in inner.items():
                yield from leaves(item, [*at, key])
        else:
            yield [*at, marker], marker, value[marker]


def trees(ir):
    """(path, node that depends on it or None, tree) of everything that may hold leaf markers."""
    for name, provider in ir["providers"].items():
        yield ["providers", name, "config"], f"provider.{name}", provider.get("config", {})
    for at, item in declared(ir):
        key = "arguments" if at[0] == "calls" else "config"
        yield [*at, key], item["id"], item[key]
        meta = item.get("meta", {})
        for key in ("preconditions", "postconditions"):
            for i, condition in enumerate(meta.get(key, [])):
                yield [*at, "meta", key, i, "condition"], item["id"], condition["condition"]
                yield [*at, "meta", key, i, "message"], item["id"], condition["message"]
    for i, consumer in enumerate(ir["nixConsumers"]):
        yield ["nixConsumers", i, "value"], consumer["id"], consumer["value"]
    for i, check in enumerate(ir.get("checks", [])):
        yield ["checks", i, "condition"], None, check["condition"]
        yield ["checks", i, "message"], None, check["message"]
    for i, item in enumerate(ir.get("imports", [])):
        yield ["imports", i, "id"], item["to"], item["id"]


def waiting(ir):
    """(path, node or None, object with inputs) of everything that waits for outputs."""
    for at, node, tree in trees(ir):
        for leaf_at, marker, body in leaves(tree, at):
            if marker == "__derived":
                yield leaf_at, node, body
    for i, item in enumerate(ir.get("deferred", [])):
        yield ["deferred", i], None, item


def triggers(item):
    return item.get("meta", {}).get("lifecycle", {}).get("replaceTriggeredBy", [])


def input_target(name, ids):
    """The declared id at the start of an input without exact form: the longest."""
    dots = [i for i, character in enumerate(name) if character == "."]
    return next((name[:dot] for dot in reversed(dots) if name[:dot] in ids), None)


def targets(ir):
    """(path, id) of everything that must name a resource or data source."""
    for at, _, tree in trees(ir):
        for leaf_at, marker, body in leaves(tree, at):
            if marker in ("__ref", "__sensitiveRef"):
                yield [*leaf_at, "resource"], body["resource"]
    for at, _, body in waiting(ir):
        for i, target in enumerate(body.get("refs", [])):
            yield [*at, "refs", i, "resource"], target["resource"]
        for i, part in enumerate(body.get("template", [])):
            if isinstance(part, dict):
                yield [*at, "template", i, "__ref", "resource"], part["__ref"]["resource"]
    for at, item in declared(ir):
        for i, name in enumerate(item.get("meta", {}).get("dependsOn", [])):
            yield [*at, "meta", "dependsOn", i], name
        for i, trigger in enumerate(triggers(item)):
            trigger_at = [*at, "meta", "lifecycle", "replaceTriggeredBy", i]
            if isinstance(trigger, dict):
                yield [*trigger_at, "__ref", "resource"], trigger["__ref"]["resource"]
            else:
                yield trigger_at, trigger
    for i, part in enumerate(ir.get("deferred", [])):
        for j, name in enumerate(part.get("declares", [])):
            yield ["deferred", i, "declares", j], name
    for i, edge in enumerate(ir["edges"]):
        yield ["edges", i, "from"], edge["from"]


def targets_exist(ir):
    ids = declared_ids(ir)
    for at, name in targets(ir):
        if name not in ids:
            near = suggest(name, ids) if len(ids) <= MAX_CANDIDATES else ""
            yield at, f"no resource or data source '{name}'{near}"


def inputs_are_exact(ir):
    ids = declared_ids(ir)
    for at, _, body in waiting(ir):
        names, refs = body["inputs"], body.get("refs")
        if refs is None:
            for i, name in enumerate(names):
                if input_target(name, ids) is None:
                    yield [*at, "inputs", i], f"'{name}' is no path into a declared resource or data source"
        elif len(refs) != len(names):
            yield [*at, "refs"], f"{len(refs)} refs for {len(names)} inputs"
        else:
            for i, (ref, name) in enumerate(zip(refs, names)):
                if show(ref) != name:
                    yield [*at, "refs", i], f"not the same as input '{name}'"


def templates_use_their_inputs(ir):
    for at, _, body in waiting(ir):
        if "template" not in body:
            continue
        used = {i: show(part["__ref"]) for i, part in enumerate(body["template"]) if isinstance(part, dict)}
        for i, name in used.items():
            if name not in body["inputs"]:
                yield [*at, "template", i], f"'{name}' is not an input"
        for i, name in enumerate(body["inputs"]):
            if name not in used.values():
                yield [*at, "inputs", i], f"'{name}' is not in the template"


def ids_are_unique(ir):
    first = {f"provider.{name}": None for name in ir["providers"]}
    consumers = [(["nixConsumers", i], c) for i, c in enumerate(ir["nixConsumers"])]
    for at, item in [*declared(ir), *consumers]:
        name = item["id"]
        if name not in first:
            first[name] = at
        elif first[name] is None:
            yield [*at, "id"], f"'{name}' is the name of a provider"
        else:
            yield [*at, "id"], f"duplicate id '{name}', first at {pointer(first[name])}"


def ids_match_their_parts(ir):
    for at, item in declared(ir):
        prefix = {"dataSources": ["data"], "ephemeral": ["ephemeral"], "calls": ["call"]}.get(at[0], [])
        kind = item["function"] if at[0] == "calls" else item["type"]
        expected = ".".join([*prefix, item["provider"], kind, item["name"]])
        if item["id"] != expected:
            yield [*at, "id"], f"expected '{expected}', found '{item['id']}'"


def names_match_their_index(ir):
    for at, item in declared(ir):
        if "index" not in item.get("meta", {}):
            continue
        key = str(item["meta"]["index"])
        _, separator, escaped = item["name"].rpartition("__")
        if not separator or unescape(escaped) != key.encode():
            yield [*at, "name"], f"expected a name that ends in '__' and the key '{key}', escaped"


def unescape(text):
    """%XX to the byte; None for a % that does not start such a code."""
    if not re.fullmatch("([^%]|%[0-9A-F]{2})*", text):
        return None
    return re.sub(rb"%(..)", lambda code: bytes.fromhex(code[1].decode()), text.encode())


def providers_are_declared(ir):
    for at, item in declared(ir):
        name = item["provider"]
        if name not in ir["providers"]:
            yield [*at, "provider"], f"no provider '{name}'{suggest(name, ir['providers'])}"


def edges_lead_somewhere(ir):
    nodes = set(graph(ir)[0])
    for i, edge in enumerate(ir["edges"]):
        if edge["to"] not in nodes:
            yield ["edges", i, "to"], f"no resource, data source, provider or consumer '{edge['to']}'"


def imports_have_a_resource(ir):
    resources, seen = {r["id"] for r in ir["resources"]}, set()
    for i, item in enumerate(ir.get("imports", [])):
        name = item["to"]
        if name not in resources:
            yield ["imports", i, "to"], f"no resource '{name}'{suggest(name, resources)}"
        elif name in seen:
            yield ["imports", i, "to"], f"'{name}' is imported twice"
        seen.add(name)


def moves_are_unambiguous(ir):
    resources, seen = {r["id"] for r in ir["resources"]}, {}
    for i, item in enumerate(ir.get("moved", [])):
        if item["from"] in resources:
            yield ["moved", i, "from"], f"'{item['from']}' is still declared"
        for end in ("from", "to"):
            name = item[end]
            if (end, name) in seen:
                yield ["moved", i, end], f"'{name}' moves twice, first at moved/{seen[end, name]}"
            seen[end, name] = i


def moves_come_to_an_end(ir):
    """Told once for each circle, at the first of its entries."""
    moved = ir.get("moved", [])
    next_of, seen = {item["from"]: (i, item["to"]) for i, item in enumerate(moved)}, set()
    for item in moved:
        path, at = [], item["from"]
        while at in next_of and at not in seen:
            seen.add(at)
            path.append((next_of[at][0], at))
            at = next_of[at][1]
        names = [name for _, name in path]
        if at in names:
            circle = path[names.index(at) :]
            first = circle.index(min(circle))
            circle = circle[first:] + circle[:first]
            shown = "' to '".join(name for _, name in [*circle, circle[0]])
            yield ["moved", circle[0][0]], f"moves in a circle: '{shown}'"


def removals_are_not_declared(ir):
    resources = {r["id"] for r in ir["resources"]}
    for i, item in enumerate(ir.get("removed", [])):
        if item["from"] in resources:
            yield ["removed", i, "from"], f"'{item['from']}' is still declared"


def ephemeral_values_stay_in_the_run(ir):
    ephemeral = {item["id"] for item in ir.get("ephemeral", [])}
    ids = declared_ids(ir)

    def used(*trees, by_nix_only=False):
        for tree in trees:
            for _, marker, body in leaves(tree, []):
                if marker in ("__ref", "__sensitiveRef") and not by_nix_only:
                    yield body["resource"]
                elif marker == "__derived" and not (by_nix_only and "template" in body):
                    refs = body.get("refs")
                    yield from [r["resource"] for r in refs] if refs else [input_target(n, ids) for n in body["inputs"]]

    def places():
        for at, item in declared(ir):
            if at[0] in ("resources", "ephemeral"):
                yield [*at, "config"], used(item["config"], by_nix_only=True), "what Nix computes"
            elif at[0] == "dataSources":
                yield [*at, "config"], used(item["config"]), "a data source"
            else:
                yield [*at, "arguments"], used(item["arguments"]), "a function call"
            for key in ("preconditions", "postconditions"):
                for i, c in enumerate(item.get("meta", {}).get(key, [])):
                    yield [*at, "meta", key, i], used(c["condition"], c["message"]), "a condition"
        for name, provider in ir["providers"].items():
            config = provider.get("config", {})
            yield ["providers", name, "config"], used(config, by_nix_only=True), "what Nix computes"
        for i, consumer in enumerate(ir["nixConsumers"]):
            yield ["nixConsumers", i, "value"], used(consumer["value"]), "an output"
        for i, check in enumerate(ir.get("checks", [])):
            yield ["checks", i], used(check["condition"], check["message"]), "a check"
        for i, item in enumerate(ir.get("imports", [])):
            yield ["imports", i, "id"], used(item["id"]), "an import"
        for i, part in enumerate(ir.get("deferred", [])):
            yield ["deferred", i], used({"__derived": part}), "what Nix computes"

    for at, names, place in places():
        found = sorted(ephemeral.intersection(names))
        if found:
            yield at, f"'{found[0]}' is ephemeral and cannot be used in {place}"


def graph(ir):
    """Nodes in order with their addresses, and for each node the set of nodes that need it."""
    nodes = {}
    for at, item in declared(ir):
        nodes.setdefault(item["id"], at)
    for name in sorted(ir["providers"]):
        nodes.setdefault(f"provider.{name}", ["providers", name])
    for i, consumer in enumerate(ir["nixConsumers"]):
        nodes.setdefault(consumer["id"], ["nixConsumers", i])
    ids, needed_by = declared_ids(ir), {name: set() for name in nodes}

    def depend(node, on, at=()):
        about_itself = node == on and list(at[2:4]) == ["meta", "postconditions"]
        if node in nodes and on in nodes and not about_itself:
            needed_by[on].add(node)

    for at, node, tree in trees(ir):
        for _, marker, body in leaves(tree, at):
            if marker in ("__ref", "__sensitiveRef"):
                depend(node, body["resource"], at)
    for at, node, body in waiting(ir):
        refs = body.get("refs")
        for on in [r["resource"] for r in refs] if refs is not None else [input_target(n, ids) for n in body["inputs"]]:
            for name in body.get("declares", [node]):
                depend(name, on, at)
    for at, item in declared(ir):
        if at[0] != "calls":
            depend(item["id"], f"provider.{item['provider']}")
        for on in item.get("meta", {}).get("dependsOn", []):
            depend(item["id"], on)
        for trigger in triggers(item):
            depend(item["id"], trigger["__ref"]["resource"] if isinstance(trigger, dict) else trigger)
    for edge in ir["edges"]:
        depend(edge["to"], edge["from"])
    return nodes, needed_by


def no_cycles(ir):
    """Tells one: the shortest, of those the one with the first node."""
    nodes, needed_by = graph(ir)
    order = {name: i for i, name in enumerate(nodes)}
    shortest = None
    for start in behind_cycles(needed_by, order):
        found = shortest_cycle(start, needed_by, order)
        if found and (shortest is None or len(found) < len(shortest)):
            shortest = found
    if shortest:
        names = [shortest[0], *reversed(shortest)]
        yield nodes[shortest[0]], f"dependency cycle: {' needs '.join(names)}"


def behind_cycles(needed_by, order):
    """The nodes that are on a cycle or behind one."""
    missing = dict.fromkeys(order, 0)
    for nexts in needed_by.values():
        for name in nexts:
            missing[name] += 1
    ready = [name for name in order if missing[name] == 0]
    for name in ready:
        for after in needed_by[name]:
            missing[after] -= 1
            if missing[after] == 0:
                ready.append(after)
    return [name for name in order if missing[name] > 0]


def shortest_cycle(start, needed_by, order):
    came_from, queue = {}, deque([start])
    while queue:
        node = queue.popleft()
        for after in sorted(needed_by[node], key=order.get):
            if after == start:
                path = [node]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if after not in came_from:
                came_from[after] = node
                queue.append(after)
    return None


RULES = [
    targets_exist,
    inputs_are_exact,
    templates_use_their_inputs,
    ids_are_unique,
    ids_match_their_parts,
    names_match_their_index,
    providers_are_declared,
    edges_lead_somewhere,
    imports_have_a_resource,
    moves_are_unambiguous,
    moves_come_to_an_end,
    removals_are_not_declared,
    ephemeral_values_stay_in_the_run,
    no_cycles,
]


# --- The program


def check(text, validator):
    """All that is wrong with a document, one line per problem."""
    try:
        ir = parse(text)
        check_schema(ir, validator)
        problems = [problem for rule in RULES for problem in rule(ir)]
        return IrError(problems).lines()
    except IrError as error:
        return error.lines()


def test(validator):
    """A valid fixture has no errors; an invalid one exactly those of its `.expect` file, where "…" stands for the words of
    the JSON parser."""
    passed = failed = 0
    for path in sorted(HERE.glob("fixtures/*/*.json")):
        expected = []
        if path.parent.name == "invalid":
            expected = path.with_suffix(".expect").read_text("utf-8").splitlines()
            if not expected:
                expected = ["an .expect file must not be empty"]
        found = [re.sub("not JSON: .*", "not JSON: …", line) for line in check(path.read_bytes(), validator)]
        if found == expected:
            passed += 1
        else:
            failed += 1
            print(f"{path.relative_to(HERE)}:", *(f"  expected {e}" for e in expected), sep="\n")
            print(*(f"  found    {f}" for f in found), sep="\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def validate(files, validator):
    status = 0
    for file in files:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        for line in check(text, validator):
            print(f"{file}: {line}" if len(files) > 1 else line)
            status = 1
    return status


def main(arguments):
    schema = json.loads(SCHEMA.read_text("utf-8"))
    validator = Draft202012Validator(schema)
    match arguments:
        case ["test"]:
            return test(validator)
        case ["validate", *files] if files:
            return validate(files, validator)
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

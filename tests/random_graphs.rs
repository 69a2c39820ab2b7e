//! Random stacks, applied for real: every value that reached the provider is what the same Nix gives with the outputs known,
//! and Nix was evaluated as often as promised. `NIVIS_GRAPHS` says how many stacks, `NIVIS_SEED` where to start.
//!
//! The text of a graph is a function of a vocabulary `v`. nivis evaluates it with references and derives; a plain Nix program
//! evaluates it with what the provider recorded in place of outputs, and functions called at once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::ir_conformance::reference_checker;
use crate::ir_random::Dice;
use crate::support::{Workspace, fake_provider};

/// Stacks per test; there are four tests, to run side by side.
const GRAPHS: usize = 5;

const TEXTS: [&str; 10] = [
    "",
    "plain",
    "q\"\\ ${x} $${y} ''",
    "tab\tnl\nend",
    "é ☃ ß",
    "{\"__ref\":1}",
    "%s &amp; <x>",
    "  spaced  ",
    "a/b.c:d-e_f",
    "__derived",
];

/// A text as Nix source.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let text = text.replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{}\"", text.replace('$', "\\$"))
}

/// A piece of Nix, and after how many evaluations, the first one not counted, its value is there.
struct Term {
    nix: String,
    level: usize,
}

/// A graph in the making.
struct Graph {
    dice: Dice,
    /// `let` bindings.
    bindings: String,
    /// Level of each resource so far, named `r0`, `r1`, ….
    levels: Vec<usize>,
    /// The highest level of anything.
    highest: usize,
    /// Whether the levels say exactly how often Nix is evaluated.
    exact: bool,
    has_secrets: bool,
    parts: usize,
}

impl Graph {
    fn roll(&mut self, sides: usize) -> usize {
        self.dice.roll(sides)
    }

    /// An output of an earlier resource; one that nobody knows before the apply, if the count is to be exact.
    fn output(&mut self, is_computed_with: bool) -> Term {
        let i = self.roll(self.levels.len());
        let late = is_computed_with && (self.exact || self.roll(2) == 0);
        let attribute = if late {
            "id"
        } else {
            self.dice.pick(&["id", "value", "echo"])
        };
        Term {
            nix: format!("(v.out r{i} \"{attribute}\")"),
            level: self.levels[i],
        }
    }

    /// A text that interpolates outputs, and perhaps does more with them.
    fn text(&mut self, depth: usize, is_computed_with: bool) -> Term {
        let literal = quoted(self.dice.pick(&TEXTS));
        if self.levels.is_empty() {
            return Term {
                nix: literal,
                level: 0,
            };
        }
        match self.roll(if depth == 0 { 2 } else { 7 }) {
            0 => Term {
                nix: literal,
                level: 0,
            },
            1 | 2 => {
                let (a, b) = (self.output(is_computed_with), self.output(is_computed_with));
                let nix = format!(
                    "({literal} + \"${{{}}}-${{{}}}\" + {literal})",
                    a.nix, b.nix
                );
                Term {
                    nix,
                    level: a.level.max(b.level),
                }
            }
            3 => {
                let a = self.output(true);
                Term {
                    nix: format!(
                        "(builtins.substring 1 3 \"${{{}}}\")",
                        a.nix.replace("value", "id").replace("echo", "id")
                    ),
                    level: a.level + 1,
                }
            }
            n => {
                let inner = self.text(depth - 1, true);
                if !inner.nix.contains("v.out") {
                    return inner;
                }
                let function = match n {
                    4 => "(upper ",
                    5 => "(builtins.toJSON [ ",
                    _ => "(builtins.replaceStrings [ \"-\" \"\\\"\" ] [ \"_\" \"'\" ] ",
                };
                let end = if n == 5 { " ])" } else { ")" };
                // What is computed from a computed text is computed at once.
                let is_computed = ["upper", "toJSON", "replaceStrings", "substring"]
                    .iter()
                    .any(|f| inner.nix.contains(f));
                Term {
                    nix: format!("{function}{}{end}", inner.nix),
                    level: inner.level + usize::from(!is_computed),
                }
            }
        }
    }

    /// Something that `derive` takes: an output, or another derive.
    fn input(&mut self, depth: usize) -> Term {
        if depth == 0 || self.roll(3) > 0 {
            return self.output(true);
        }
        let inner = self.derive(depth - 1, &["toText a"]);
        // The inner one is computed together with the outer one.
        Term {
            level: inner.level - 1,
            ..inner
        }
    }

    /// A derive that ends in one of `results`, expressions of `a` and `b`.
    fn derive(&mut self, depth: usize, results: &[&str]) -> Term {
        let (a, b) = (self.input(depth), self.input(depth));
        let result = self.dice.pick(results);
        Term {
            nix: format!(
                "(v.d {{ a = {}; b = {}; }} ({{ a, b }}: {result}))",
                a.nix, b.nix
            ),
            level: 1 + a.level.max(b.level),
        }
    }

    fn derived_text(&mut self) -> Term {
        let results = [
            "builtins.toJSON { inherit a b; }",
            "\"${a}<${b}\"",
            "builtins.concatStringsSep \"|\" (builtins.filter builtins.isString (builtins.split \"-\" a))",
            "builtins.hashString \"sha256\" a",
            "if builtins.stringLength a > 4 then b else a",
            "builtins.substring 0 1 (builtins.toJSON (a == b)) + v.image a",
        ];
        if self.roll(5) > 0 || self.levels.is_empty() {
            return self.derive(2, &results);
        }
        // A reference in the result of a derive is left to the executor.
        let late = self.roll(self.levels.len());
        let result = format!("\"${{a}}${{v.out r{late} \"id\"}}\"");
        let derived = self.derive(1, &[&result]);
        Term {
            level: derived.level.max(self.levels[late]),
            ..derived
        }
    }

    /// A secret that goes on.
    fn secret(&mut self) -> Term {
        let i = self.roll(self.levels.len());
        let nix = if self.roll(2) == 0 {
            format!("\"<${{v.out r{i} \"password\"}}>\"")
        } else {
            (self.has_secrets, self.exact) = (true, false);
            format!("(v.ds (v.out r{i} \"password\") (p: \"${{p}}!\"))")
        };
        Term {
            nix,
            level: self.levels[i] + 1,
        }
    }

    fn config(&mut self) -> (String, usize) {
        let mut config = String::new();
        let mut level = 0;
        let mut set = |name: &str, term: Term| {
            write!(config, " {name} = {};", term.nix).unwrap();
            level = level.max(term.level);
        };
        let first = self.levels.is_empty();
        let value = match self.roll(3) {
            0 if !first => self.derived_text(),
            _ => self.text(2, false),
        };
        set("value", value);
        if first {
            return (config, level);
        }
        if self.roll(3) == 0 {
            set("tags.\"k.\\${x} é\"", self.text(2, false));
        }
        if self.roll(3) == 0 {
            let tree = [
                "{ x = a; list = [ a b 1 true ]; }",
                "[ { inherit a; } { inherit b; } ]",
            ];
            set("extra", self.derive(1, &tree));
        }
        if self.roll(4) == 0 {
            set(
                "size",
                self.derive(1, &["builtins.stringLength \"${a}${b}\""]),
            );
        }
        if self.roll(5) == 0 {
            set("force_new", self.secret());
        }
        (config, level)
    }

    fn resource(&mut self) {
        let i = self.levels.len();
        let (config, level) = self.config();
        writeln!(self.bindings, "r{i} = v.thing \"r{i}\" {{{config} }};").unwrap();
        self.levels.push(level);
        self.highest = self.highest.max(level);
    }

    /// Resources by an output; and one that uses them.
    fn part(&mut self) {
        let (i, of) = (self.parts, self.output(true));
        let config = self.text(1, false);
        writeln!(
            self.bindings,
            "p{i} = v.d {{ of = {}; }} ({{ of }}: v.each [ \"x\" \"y\" ] (key: v.thing \"p{i}__${{key}}\" {{ value = \"${{key}}/${{of}}\" + {}; }}));
             u{i} = v.thing \"u{i}\" {{ extra = v.d {{ all = p{i}; }} ({{ all }}: map (x: v.out x \"id\") (builtins.attrValues all)); }};",
            of.nix, config.nix
        )
        .unwrap();
        self.highest = self.highest.max(of.level + 1).max(config.level);
        self.parts += 1;
        self.exact = false;
    }

    /// The text of a graph.
    fn finish(&mut self) -> String {
        let parts: String = (0..self.parts)
            .map(|i| format!(" inherit p{i} u{i};"))
            .collect();
        let names: String = (0..self.levels.len()).map(|i| format!(" r{i}")).collect();
        // An output has no place for a build inside of a text.
        let output = self.derive(2, &["builtins.toJSON { inherit a b; }", "a + b"]);
        self.highest = self.highest.max(output.level);
        format!(
            "v: let\nupper = builtins.replaceStrings [ \"a\" \"e\" \"r\" ] [ \"A\" \"E\" \"R\" ];\n\
             toText = x: if builtins.isString x then x else builtins.toJSON x;\n{}in {{\n\
             resources = {{ list = [{names} ];{parts} }};\noutputs.o = {};\n}}\n",
            self.bindings, output.nix
        )
    }
}

fn graph(seed: u64) -> (String, Graph) {
    let mut dice = Dice::new(seed);
    let (size, exact) = (3 + dice.roll(5), dice.roll(2) == 0);
    let mut graph = Graph {
        dice,
        bindings: String::new(),
        levels: Vec::new(),
        highest: 0,
        exact,
        has_secrets: false,
        parts: 0,
    };
    for _ in 0..size {
        graph.resource();
        if !exact && graph.roll(5) == 0 {
            graph.part();
        }
    }
    let text = graph.finish();
    (text, graph)
}

/// The vocabulary with what was recorded in place of outputs.
const DIRECT: &str = r"
let
  outputs = builtins.fromJSON (builtins.readFile ./outputs.json);
  v = {
    thing = name: config: { inherit name config; isThing = true; };
    each = keys: f: builtins.listToAttrs (map (key: { name = key; value = f key; }) keys);
    out = thing: attribute: outputs.${thing.name}.${attribute};
    d = inputs: f: f inputs;
    ds = inputs: f: f inputs;
    inherit (import ./image.nix) image;
  };
  flatten = x:
    if x.isThing or false then [ x ]
    else builtins.concatMap flatten (if builtins.isList x then x else builtins.attrValues x);
  graph = import ./graph.nix v;
in {
  resources = builtins.listToAttrs (map (x: { inherit (x) name; value = x.config; }) (flatten graph.resources));
  inherit (graph) outputs;
}
";

/// A build that depends on a text.
const IMAGE: &str = r#"{
  image = text: "${derivation {
    name = "image"; system = builtins.currentSystem; builder = "/bin/sh"; inherit text;
    args = [ "-c" "echo \"$text\" > $out" ];
  }}";
}"#;

fn write_stack(workspace: &Workspace, graph: &str) {
    let source = Value::from(fake_provider().to_str().unwrap());
    workspace.write("graph.nix", graph);
    workspace.write("image.nix", IMAGE);
    workspace.write("direct.nix", DIRECT);
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          make = name: config: n.resource {{
            provider = fake; type = "fake_thing"; inherit name; config = {{ inherit name; }} // config;
          }};
        in import ./graph.nix {{
          thing = make;
          each = keys: f: n.forEach keys (key: _:
            let made = f key; in n.resource {{
              provider = fake; type = "fake_thing"; name = builtins.substring 0 2 made.name; inherit (made) config;
            }});
          out = x: x.ref;
          d = n.derive;
          ds = n.deriveSensitive;
          inherit (import ./image.nix) image;
        }}"#
    ));
}

/// What the provider was given last for each thing, by name.
fn recorded(workspace: &Workspace) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(workspace.path("record")).unwrap_or_default();
    let lines = text
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap());
    lines
        .map(|mut l| {
            (
                l["object"]["name"].as_str().unwrap().to_owned(),
                l["object"].take(),
            )
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the other evaluation is none of nivis"
)]
fn evaluated_directly(workspace: &Workspace) -> Value {
    let run = workspace.command(["ir"]);
    let mut nix = Command::new("nix-instantiate");
    nix.args(["--eval", "--strict", "--json", "direct.nix"])
        .env_clear();
    nix.envs(run.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let output = nix
        .current_dir(workspace.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problems}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The value without the type that goes with it where any type may stand.
fn plain(value: &Value) -> &Value {
    value.get("type").and(value.get("value")).unwrap_or(value)
}

fn check(seed: u64, documents: &mut Vec<String>, folder: &std::path::Path) {
    let (text, graph) = graph(seed);
    let workspace = Workspace::with_fake();
    write_stack(&workspace, &text);
    let context = format!("NIVIS_SEED={seed}\n{text}");

    let ir = workspace.run_stack("ir", &[]).success().stdout;
    let file = folder.join(format!("{seed}.json"));
    crate::support::overwrite(&file, ir.as_bytes()).unwrap();
    let file = file.to_str().unwrap().to_owned();
    workspace.run(["ir", "check", &file]).success();
    documents.push(file);

    let before = workspace.evaluations();
    let applied = workspace.run_stack("apply", &["--auto-approve"]);
    assert_eq!(applied.code, 0, "{context}{applied}");
    let evaluations = workspace.evaluations() - before;
    let highest = graph.highest;
    if graph.exact {
        assert_eq!(evaluations, 1 + highest, "evaluations\n{context}{applied}");
    } else {
        let most = (1 + 2 * highest + 2 * graph.parts) * (1 + usize::from(graph.has_secrets));
        assert!(
            evaluations <= most,
            "{evaluations} evaluations, {most} expected\n{context}{applied}"
        );
    }

    let recorded = recorded(&workspace);
    workspace.write("outputs.json", &json!(recorded).to_string());
    let direct = evaluated_directly(&workspace);
    let expected = direct["resources"].as_object().unwrap();
    assert_eq!(recorded.len(), expected.len(), "{context}");
    for (name, config) in expected {
        for (attribute, value) in config.as_object().unwrap() {
            let given = plain(&recorded[name][attribute]);
            assert_eq!(given, value, "{attribute} of {name}\n{context}");
        }
    }
    let outputs = workspace.run_stack("output", &["--json"]).success().json();
    assert_eq!(outputs["o"]["value"], direct["outputs"]["o"], "{context}");

    let before = workspace.evaluations();
    let again = workspace.run_stack("plan", &["--detailed-exitcode"]);
    assert_eq!(again.code, 0, "{context}{again}");
    let evaluations = workspace.evaluations() - before;
    assert!(
        evaluations <= 1 + usize::from(graph.has_secrets),
        "{context}{again}"
    );
}

fn number(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    let text = std::env::var(name).ok();
    text.map(|text| text.parse().unwrap())
}

/// Every fourth graph.
fn graphs(share: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut documents = vec!["validate".to_owned()];
    let (start, count) = (number("NIVIS_SEED").unwrap_or(1), number("NIVIS_GRAPHS"));
    let count = count.map_or(GRAPHS as u64, |n| n.div_ceil(4));
    for i in 0..count {
        check(start + 4 * i + share, &mut documents, folder.path());
    }
    let arguments: Vec<&str> = documents.iter().map(|d| &**d).collect();
    let (good, said) = reference_checker(&arguments);
    assert!(good, "{said}");
}

#[test]
fn the_first_quarter_of_the_graphs() {
    graphs(0);
}

#[test]
fn the_second_quarter_of_the_graphs() {
    graphs(1);
}

#[test]
fn the_third_quarter_of_the_graphs() {
    graphs(2);
}

#[test]
fn the_last_quarter_of_the_graphs() {
    graphs(3);
}

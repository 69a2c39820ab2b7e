//! Variables: values from outside, converted, checked, and used.

use crate::support::Workspace;

/// Shows what `vars` came to in an output that nothing hides.
const STACK: &str = r#"{
  variables = {
    region = { type = "string"; default = "eu"; description = "where to run"; };
    size = {
      type = "number";
      default = 1;
      validation = [
        { condition = value: value > 0; message = "give at least one"; }
        { condition = value: value < 10; message = "that is too many"; }
      ];
    };
    debug = { type = "bool"; default = false; };
    zones = { type = [ "list" "string" ]; default = [ ]; };
    tags = { type = [ "map" "string" ]; default = { }; };
    host = {
      type = [ "object" { name = "string"; port = "number"; } [ "port" ] ];
      default = { name = "a"; };
    };
    any = { default = null; };
    strict = { type = "string"; default = "d"; nullable = false; };
  };
  outputs = { inherit (vars) region size debug zones tags host any strict; };
}"#;

/// The value of an output of [`STACK`] as `nivis ir` shows it.
fn value(workspace: &Workspace, name: &str, args: &[&str]) -> String {
    let ir = workspace.run_stack("ir", args).success().json();
    let consumers = ir["nixConsumers"].as_array().unwrap();
    let id = format!("output.{name}");
    let found = consumers.iter().find(|c| c["id"] == *id).unwrap();
    assert_eq!(found["value"], ir["variables"][name]["value"], "{name}");
    found["value"].to_string()
}

#[test]
fn texts_are_converted_by_the_declared_type() {
    let workspace = Workspace::new();
    workspace.stack(STACK);
    let table = [
        ("region=us", r#""us""#),
        ("region=3", r#""3""#),
        ("region=[1]", r#""[1]""#),
        ("region=a=b", r#""a=b""#),
        ("region=", r#""""#),
        ("size=3", "3"),
        ("size=0.5", "0.5"),
        ("debug=true", "true"),
        ("debug=1", "true"),
        (r#"zones=["a", 1, true]"#, r#"["a","1","true"]"#),
        (r#"tags={"a": 1}"#, r#"{"a":"1"}"#),
        (
            r#"host={"name": "x", "more": 1}"#,
            r#"{"name":"x","port":null}"#,
        ),
        (
            r#"host={"name": 1, "port": "2"}"#,
            r#"{"name":"1","port":2}"#,
        ),
        (r#"any={"a": 1}"#, r#""{\"a\": 1}""#),
    ];
    for (flag, expected) in table {
        let name = flag.split_once('=').unwrap().0;
        assert_eq!(
            value(&workspace, name, &["--var", flag]),
            expected,
            "{flag}"
        );
    }
    assert_eq!(
        value(&workspace, "host", &[]),
        r#"{"name":"a","port":null}"#
    );
}

#[test]
fn flags_win_over_files_over_the_environment() {
    let mut workspace = Workspace::new();
    workspace.stack(STACK);
    workspace.write(
        "a.json",
        r#"{"region": "file", "any": {"a": [1, null]}, "strict": null}"#,
    );
    workspace.write("b.json", r#"{"region": "later file"}"#);
    workspace.set_env("TF_VAR_region", "terraform");
    workspace.set_env("TF_VAR_of_something_else", "x");
    let region = |workspace: &Workspace, args: &[&str]| value(workspace, "region", args);
    assert_eq!(region(&workspace, &[]), r#""terraform""#);
    workspace.set_env("NIVIS_VAR_region", "environment");
    assert_eq!(region(&workspace, &[]), r#""environment""#);
    let files = ["--var-file", "a.json", "--var-file", "b.json"];
    assert_eq!(region(&workspace, &files), r#""later file""#);
    let all = [&files[..], &["--var", "region=x", "--var", "region=flag"]].concat();
    assert_eq!(region(&workspace, &all), r#""flag""#);
    assert_eq!(value(&workspace, "any", &files), r#"{"a":[1,null]}"#);
    assert_eq!(value(&workspace, "strict", &files), r#""d""#);
}

#[test]
fn what_does_not_fit_is_named_with_where_it_came_from() {
    let workspace = Workspace::new();
    workspace.stack(STACK);
    workspace.write("list.json", r#"{"zones": ["a", ["b"]]}"#);
    workspace.write("host.json", r#"{"host": {"nam": "a"}}"#);
    workspace.write("broken.json", "{");
    let table: [(&[&str], &str); 11] = [
        (
            &["--var", "regoin=us"],
            "unknown variable 'regoin' (from --var); did you mean 'region'?",
        ),
        (
            &["--var", "size=three"],
            "variable 'size' (from --var) must be a number, got a string",
        ),
        (
            &["--var", "debug=yes"],
            "variable 'debug' (from --var) must be true or false, got a string",
        ),
        (
            &["--var", "size=0"],
            "variable 'size' (from --var) is not valid: give at least one",
        ),
        (
            &["--var", "size=10"],
            "variable 'size' (from --var) is not valid: that is too many",
        ),
        (
            &["--var", "size=12345678901234567890"],
            "is a number with more digits than Nix keeps",
        ),
        (
            &["--var", "zones=a,b"],
            "variable 'zones' (from --var) must be a list, and the text is not JSON",
        ),
        (
            &["--var-file", "list.json"],
            "element 1 of variable 'zones' (from list.json) must be a string, got a list of 1",
        ),
        (
            &["--var-file", "host.json"],
            "variable 'host' (from host.json) lacks 'name'",
        ),
        (
            &["--var-file", "broken.json"],
            "broken.json: not JSON: EOF while parsing an object",
        ),
        (&["--var", "region"], "there is no `=` in it"),
    ];
    for (args, message) in table {
        workspace.run_stack("plan", args).exits(1).says(message);
    }
}

#[test]
fn a_variable_without_default_must_be_given() {
    let workspace = Workspace::new();
    workspace.stack(r"{ variables.region = { }; outputs.region = vars.region; }");
    for verb in ["plan", "validate", "graph", "ir"] {
        workspace
            .run_stack(verb, &[])
            .exits(1)
            .says("variable 'region' has no value; give it with `--var region=…`");
    }
    let given = ["--var", "region=eu", "--auto-approve"];
    workspace.run_stack("apply", &given).success();
    workspace
        .run_stack("output", &["--name", "region", "--raw"])
        .success()
        .says("eu");
    workspace
        .run_stack("destroy", &["--auto-approve"])
        .exits(1)
        .says("has no value");
}

#[test]
fn a_sensitive_variable_configures_a_provider_and_is_shown_nowhere() {
    let workspace = Workspace::new();
    workspace.stack(
        r#"let builtin = n.provider { id = "builtin"; source = "builtin"; }; in {
          variables.pins = { type = [ "map" "number" ]; sensitive = true; };
          variables.note = { type = "string"; sensitive = true; default = "from the source"; };
          resources = [ (n.resource {
            provider = builtin; type = "builtin_file"; name = "f";
            config = { filename = "./made"; sensitive_content = "${n.ref "var" [ "pins" "door" ]}/${vars.note}"; };
          }) ];
        }"#,
    );
    workspace.write("pins.json", r#"{"pins": {"door": "493817"}}"#);
    let args = ["--var-file", "pins.json", "--auto-approve"];
    workspace
        .run_stack("apply", &args)
        .success()
        .is_silent_about("493817");
    let made = std::fs::read_to_string(workspace.path("made")).unwrap();
    assert_eq!(made, "493817/from the source");
}

#[test]
fn an_output_of_a_sensitive_variable_must_say_so() {
    let workspace = Workspace::new();
    workspace.stack(
        r#"{ variables.token = { sensitive = true; }; outputs.token = "t-${vars.token}"; }"#,
    );
    workspace
        .run_stack("plan", &["--var", "token=hunter2"])
        .exits(1)
        .says("Output refers to sensitive values")
        .is_silent_about("hunter2");
}

//! `nivis state import-tfstate` and `export-tfstate`: states of Terraform and OpenTofu, with the fake provider.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values made by `json!` for the call read better without `&`"
)]

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value as Json, json};

use crate::support::{Output, Workspace, fake_provider};

/// `provider["…"]` of the fake provider.
const FAKE: &str = r#"provider["registry.terraform.io/nivis/fake"]"#;

/// A stack with the providers `fake` and `west`, and `thing provider name meta` in scope.
fn workspace(body: &str) -> Workspace {
    let workspace = Workspace::with_fake();
    stack(&workspace, body);
    workspace
}

fn stack(workspace: &Workspace, body: &str) {
    let source = Json::from(fake_provider().to_str().unwrap());
    workspace.stack(&format!(
        r#"let
          fake = n.provider {{ id = "fake"; source = {source}; }};
          west = n.provider {{ id = "west"; source = {source}; }};
          thing = provider: name: config: n.resource {{
            inherit provider name; type = "fake_thing"; config = {{ inherit name; }} // config;
          }};
        in {body}"#
    ));
}

/// A state with these resources and outputs.
fn tfstate(resources: Json, outputs: Json) -> Json {
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "11111111-2222-4333-8444-555555555555",
        "outputs": outputs, "resources": resources, "check_results": null,
    })
}

/// A managed resource with these instances.
fn resource(name: &str, provider: &str, instances: Json) -> Json {
    json!({"mode": "managed", "type": "fake_thing", "name": name, "provider": provider, "instances": instances})
}

/// An object as the fake provider would have made it.
fn object(name: &str) -> Json {
    json!({
        "name": name, "value": null, "echo": null, "id": format!("{name}-1"), "force_new": null,
        "password": format!("pw-{name}-1"), "secret_wo": null, "size": null, "tags": null, "extra": null, "region": null,
        "rule": [], "member": [], "settings": null,
    })
}

/// A whole instance; `more` is added to it.
fn instance(name: &str, more: Json) -> Json {
    let mut instance =
        json!({"schema_version": 1, "attributes": object(name), "private": "cGxhbm5lZA=="});
    let members = more.as_object().unwrap().clone();
    instance.as_object_mut().unwrap().extend(members);
    instance
}

fn state(workspace: &Workspace, command: &str, args: &[&str]) -> Output {
    workspace.run([&["state", command], args, &["--file", "stack.nix"]].concat())
}

fn import(workspace: &Workspace, tfstate: &Json, flags: &[&str]) -> Output {
    workspace.write("terraform.tfstate", &tfstate.to_string());
    state(
        workspace,
        "import-tfstate",
        &[&["terraform.tfstate"], flags].concat(),
    )
}

fn pulled(workspace: &Workspace) -> Json {
    state(workspace, "pull", &[]).success().json()
}

/// Everything a state can say of an object.
fn everything() -> Json {
    let sensitive = json!([
        [{"type": "get_attr", "value": "value"}],
        [{"type": "get_attr", "value": "tags"}, {"type": "index", "value": {"value": "k", "type": "string"}}],
        [{"type": "get_attr", "value": "extra"}, {"type": "index", "value": {"value": 2, "type": "number"}}],
    ]);
    tfstate(
        json!([
            {"mode": "data", "type": "fake_thing", "name": "d", "provider": FAKE, "instances": [instance("d", json!({}))]},
            resource("a", FAKE, json!([instance("a", json!({
                "sensitive_attributes": sensitive, "create_before_destroy": true,
                "identity_schema_version": 0, "identity": {"id": "a-1"},
            })), {
                "deposed": "0a1b2c3d", "status": "tainted", "schema_version": 0,
                "attributes": {"name": "a", "label": "old", "size": 12_345_678_901_234_567_890_u64}, "private": "b2xk",
            }])),
            resource("b", FAKE, json!([
                instance("b0", json!({"index_key": 0, "dependencies": ["data.fake_thing.d", "fake_thing.a"]})),
                instance("b1", json!({"index_key": 1, "status": "tainted", "dependencies": ["fake_thing.a"]})),
            ])),
            resource("c", &format!("{FAKE}.west"), json!([
                instance("x", json!({"index_key": "x", "dependencies": ["fake_thing.a", "fake_thing.b"]})),
                instance("q", json!({"index_key": "a.b \"ä\""})),
            ])),
        ]),
        json!({
            "plain": {"value": "x", "type": "string"},
            "listed": {"value": ["x"], "type": ["list", "string"]},
            "secret": {"value": "x", "type": "string", "sensitive": true},
            "undeclared": {"value": 1, "type": "number"},
        }),
    )
}

/// A stack for [`everything`].
const EVERYTHING: &str = r#"let
  a = thing fake "a" { };
  b = n.count 2 (i: n.resource {
    provider = fake; type = "fake_thing"; name = "b"; config.name = "b${toString i}"; meta.dependsOn = [ a ];
  });
  c = n.forEach [ "x" "a.b \"ä\"" "new" ] (key: _: thing west "c" { });
in {
  resources = [ a b c (thing west "a2" { }) ];
  outputs = { plain = "x"; listed = [ "x" ]; secret = { value = "x"; sensitive = true; }; };
}"#;

#[test]
fn everything_that_can_be_kept_is_kept_and_comes_back() {
    let workspace = workspace(EVERYTHING);
    let theirs = everything();
    let output = import(&workspace, &theirs, &[]).success();
    for text in [
        "note: data.fake_thing.d is a data source: it is read again",
        "note: the output `undeclared` is not declared: it is left out",
        "note: 2 declared resources have no object: the next apply creates them",
        "fake_thing.b[1] is fake.fake_thing.b__1\n",
        r#"fake_thing.c["a.b \"ä\""] is west.fake_thing.c__a%2Eb%20%22ä%22"#,
        "6 objects are taken over",
    ] {
        output.clone().says(text);
    }
    let ours = pulled(&workspace);
    assert_eq!(
        (&ours["serial"], &ours["lineage"]),
        (&theirs["serial"], &theirs["lineage"])
    );
    let a = &ours["resources"]["fake.fake_thing.a"];
    let expected = json!({
        "schema_version": 1, "attributes": object("a"), "private": "cGxhbm5lZA==",
        "sensitive": [["extra", 2], ["tags", {"key": "k"}], ["value"]],
        "identity": {"schema_version": 0, "value": {"id": "a-1"}}, "create_before_destroy": true,
    });
    assert_eq!(a["current"], expected);
    let expected = json!({
        "status": "tainted", "schema_version": 0, "private": "b2xk",
        "attributes": {"name": "a", "label": "old", "size": 12_345_678_901_234_567_890_u64},
    });
    assert_eq!(a["deposed"]["0a1b2c3d"], expected);
    let of = |id: &str| ours["resources"][id].clone();
    let tainted = &of("fake.fake_thing.b__1")["current"]["status"];
    assert_eq!(tainted, "tainted");
    assert_eq!(of("fake.fake_thing.b__0")["index"], 0);
    let x = of("west.fake_thing.c__x");
    assert_eq!((&x["provider"], &x["index"]), (&json!("west"), &json!("x")));
    // `a` follows from `b`.
    let on = json!(["fake.fake_thing.b__0", "fake.fake_thing.b__1"]);
    assert_eq!(x["current"]["dependencies"], on);
    assert_eq!(
        of("fake.fake_thing.b__0")["current"]["dependencies"],
        json!(["fake.fake_thing.a"])
    );
    let outputs = ours["outputs"].as_object().unwrap();
    assert_eq!(outputs.len(), 3);
    assert_eq!(outputs["secret"]["sensitive"], true);

    let provider = format!("west={FAKE}.west");
    let providers = [
        "--provider",
        "fake=registry.terraform.io/nivis/fake",
        "--provider",
        &provider,
    ];
    let exported = state(&workspace, "export-tfstate", &providers).success();
    let back = self::workspace(EVERYTHING);
    import(&back, &exported.json(), &[]).success();
    assert_eq!(pulled(&back), ours);
    let again = state(&back, "export-tfstate", &providers).success();
    assert_eq!(again.stdout, exported.stdout);
}

#[test]
fn everything_wrong_is_named_at_once() {
    let workspace = workspace(
        r#"{ resources = [
          (thing fake "server" { }) (thing fake "net_eu_main" { }) (thing fake "twice" { }) (thing west "twice" { })
        ]; }"#,
    );
    let other = r#"provider["registry.terraform.io/nivis/fake"].east"#;
    let one = || json!([instance("x", json!({}))]);
    let mut vpc = resource("main", FAKE, one());
    vpc["module"] = json!(r#"module.net["us"]"#);
    let wrong = tfstate(
        json!([
            resource("servr", FAKE, one()),
            vpc,
            resource("twice", other, one())
        ]),
        json!({}),
    );
    workspace.write("map.json", r#"{"fake_thing.gone": "fake.fake_thing.server", "fake_thing.twice": "fake.fake_thing.twce"}"#);
    let output = import(&workspace, &wrong, &[]).exits(1);
    for text in [
        "with fake_thing.servr",
        "did you mean `fake.fake_thing.server`?",
        r#"with module.net["us"].fake_thing.main"#,
        "did you mean `fake.fake_thing.net_eu_main`?",
        "error: Address with several resources\n  with fake_thing.twice",
        "`fake.fake_thing.twice`, `west.fake_thing.twice`",
        "--map",
    ] {
        output.clone().says(text);
    }
    import(&workspace, &wrong, &["--map", "map.json"])
        .exits(1)
        .says("error: Mapping of nothing\n  with fake_thing.gone")
        .says("error: Mapped to nothing\n  with fake_thing.twice")
        .says("did you mean `fake.fake_thing.twice`?");
    assert_eq!(pulled(&workspace)["resources"], json!({}));
}

#[test]
fn modules_and_what_has_another_name() {
    let workspace = workspace(
        r#"{ resources = [
          (thing fake "net_eu_main" { }) (thing fake "net-us-main" { }) (thing fake "web" { })
          (n.forEach [ "a" "b" ] (key: _: thing fake "each" { }))
        ]; }"#,
    );
    let within = |module: &str, name: &str, instances: Json| {
        let mut resource = resource(name, FAKE, instances);
        resource["module"] = json!(module);
        resource
    };
    let one = || json!([instance("x", json!({}))]);
    let keyed = json!([
        instance("a", json!({"index_key": "a"})),
        instance("b", json!({"index_key": "b"}))
    ]);
    let theirs = tfstate(
        json!([
            within(r#"module.net["eu"]"#, "main", one()),
            within(r#"module.net["us"]"#, "main", one()),
            within("module.web.module.inner", "this", one()),
            within("module.old[0]", "gone", one()),
            within("module.old[1].module.deep", "gone", one()),
            resource("others", FAKE, keyed),
        ]),
        json!({}),
    );
    workspace.write(
        "map.json",
        r#"{
          "module.web.module.inner.fake_thing.this": "fake.fake_thing.web",
          "fake_thing.others": "fake.fake_thing.each",
          "module.old": null
        }"#,
    );
    let flags = ["--map", "map.json"];
    import(&workspace, &theirs, &[&flags[..], &["--dry-run"]].concat())
        .success()
        .says("5 objects would be taken over; nothing was changed.");
    assert_eq!(pulled(&workspace)["resources"], json!({}));
    import(&workspace, &theirs, &flags).success().says(
        "note: module.old[1].module.deep.fake_thing.gone is left out, as the mapping file says",
    );
    let ours = pulled(&workspace);
    let ids: BTreeSet<&String> = ours["resources"].as_object().unwrap().keys().collect();
    let ids: Vec<&str> = ids
        .into_iter()
        .map(|id| id.strip_prefix("fake.fake_thing.").unwrap())
        .collect();
    assert_eq!(
        ids,
        ["each__a", "each__b", "net-us-main", "net_eu_main", "web"]
    );

    let provider = ["--provider", "fake=registry.terraform.io/nivis/fake"];
    let exported = state(
        &workspace,
        "export-tfstate",
        &[&flags[..], &provider].concat(),
    )
    .success();
    let exported = exported.json();
    let addresses = exported["resources"].as_array().unwrap().iter().map(|r| {
        format!(
            "{}/{}",
            r["module"].as_str().unwrap_or_default(),
            r["name"].as_str().unwrap()
        )
    });
    assert_eq!(
        addresses.collect::<Vec<_>>(),
        [
            "/net-us-main",
            "/net_eu_main",
            "/others",
            "module.web.module.inner/this"
        ]
    );
}

#[test]
fn what_is_refused() {
    let workspace = workspace(r#"{ resources = [ (thing fake "a" { }) (thing fake "b" { }) ]; }"#);
    let one = |name: &str| {
        tfstate(
            json!([resource(name, FAKE, json!([instance(name, json!({}))]))]),
            json!({}),
        )
    };
    let mut old = one("a");
    old["version"] = json!(3);
    let mut status = one("a");
    status["resources"][0]["instances"][0]["status"] = json!("broken");
    let mut private = one("a");
    private["resources"][0]["instances"][0]["private"] = json!("%");
    for (wrong, says) in [
        (
            json!({"serial": 1, "lineage": "x", "encrypted_data": "AA==", "encryption_version": "v0"}),
            "it is encrypted",
        ),
        (
            old,
            "it has format version 3, and only version 4 can be read",
        ),
        (
            json!({"format": "nivis-state", "version": 1}),
            "it has format version 1",
        ),
        (json!([1]), "invalid type: sequence"),
        (
            status,
            "resources/0/instances/0/status: unknown status \"broken\"",
        ),
        (private, "resources/0/instances/0/private: not base64"),
    ] {
        import(&workspace, &wrong, &[])
            .exits(1)
            .says("Cannot read the state of Terraform")
            .says(says);
    }
    import(&workspace, &one("a"), &[]).success();
    import(&workspace, &one("b"), &[])
        .exits(1)
        .says("Stack has a state already")
        .says("--merge");
    import(&workspace, &one("a"), &["--merge"])
        .exits(1)
        .says("error: Resource is managed already\n  with fake.fake_thing.a");
    import(&workspace, &one("b"), &["--merge"]).success();
    assert_eq!(
        pulled(&workspace)["resources"].as_object().unwrap().len(),
        2
    );
}

/// Terraform up to 0.11 stored attributes as flat text; only the provider can make an object of them.
#[test]
fn flat_attributes_are_kept_for_the_provider() {
    for protocol in ["5", "6"] {
        let mut workspace = workspace(r#"{ resources = [ (thing fake "a" { value = "v"; }) ]; }"#);
        workspace.set_env("FAKE_PROTOCOL", protocol);
        let flat = json!({"name": "a", "label": "v", "id": "a-1", "tags.%": "1", "tags.k": "w"});
        let theirs = tfstate(
            json!([resource(
                "a",
                FAKE,
                json!([{
                    "schema_version": 0, "attributes_flat": flat, "private": "cGxhbm5lZA=="
                }])
            )]),
            json!({}),
        );
        import(&workspace, &theirs, &[]).success();
        let stored = &pulled(&workspace)["resources"]["fake.fake_thing.a"]["current"];
        assert_eq!(
            (&stored["attributes_flat"], stored.get("attributes")),
            (&flat, None)
        );
        state(&workspace, "show", &["fake.fake_thing.a"])
            .success()
            .says("tags.k");
        let provider = ["--provider", "fake=registry.terraform.io/nivis/fake"];
        let exported = state(&workspace, "export-tfstate", &provider)
            .success()
            .json();
        assert_eq!(
            exported["resources"][0]["instances"][0]["attributes_flat"],
            flat
        );

        // The provider gives `tags` as they were, so that they are to be removed; nothing else changes.
        workspace
            .run_stack("plan", &["--refresh=false"])
            .success()
            .says("0 to add, 1 to change, 0 to destroy");
        workspace
            .run_stack("apply", &["--auto-approve", "--refresh=false"])
            .success();
        let stored = &pulled(&workspace)["resources"]["fake.fake_thing.a"]["current"];
        assert_eq!(
            (
                &stored["attributes"]["value"],
                stored.get("attributes_flat")
            ),
            (&json!("v"), None)
        );
    }
}

#[test]
fn names_that_terraform_cannot_have_and_clashes_are_named() {
    let workspace = workspace(
        r#"{ resources = [ (thing fake "a b" { }) (thing fake "same" { }) (thing west "same" { }) ]; }"#,
    );
    workspace.run_stack("apply", &["--auto-approve"]).success();
    let provider = format!("west={FAKE}.west");
    let providers = [
        "--provider",
        "fake=registry.terraform.io/nivis/fake",
        "--provider",
        &provider,
    ];
    state(&workspace, "export-tfstate", &providers)
        .exits(1)
        .says("error: Name that Terraform cannot have\n  with fake.fake_thing.a b")
        .says("error: Two resources with one address\n  with west.fake_thing.same");
    workspace.write(
        "map.json",
        r#"{"fake_thing.ab": "fake.fake_thing.a b", "module.west.fake_thing.same": "west.fake_thing.same"}"#,
    );
    let out = ["--map", "map.json", "--out", "out.tfstate"];
    state(
        &workspace,
        "export-tfstate",
        &[&providers[..], &out].concat(),
    )
    .success();
    let written: Json =
        serde_json::from_str(&fs::read_to_string(workspace.path("out.tfstate")).unwrap()).unwrap();
    assert_eq!(written["resources"].as_array().unwrap().len(), 3);
    assert_eq!(
        nivis::fs::mode(&workspace.path("out.tfstate")).unwrap() & 0o777,
        0o600
    );
}

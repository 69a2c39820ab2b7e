//! Providers from registries and mirrors: found, verified, locked, kept, and refused where they must be.

mod publish;
mod refused;
mod server;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use self::publish::{
    Release, archive_name, archive_path, download, key, package, platform, program, publish,
    publish_packages, sha256, sums_path,
};
use self::server::{Meeting, Reply, Server};
use crate::support::{Output, Workspace, overwrite};
use crate::terraform_peer::hosts;

/// A workspace with a stack that has one thing of the provider at `source`.
fn workspace(source: &str, version: Option<&str>) -> Workspace {
    let mut workspace = Workspace::new();
    let record = workspace.path("record");
    workspace.set_env("FAKE_RECORD", record);
    stack(&workspace, source, version);
    workspace
}

fn stack(workspace: &Workspace, source: &str, version: Option<&str>) {
    let version = version.map_or_else(String::new, |v| format!("version = \"{v}\";"));
    workspace.stack(&format!(
        r#"let fake = n.provider {{ id = "fake"; source = "{source}"; {version} }};
           in {{ resources = [ (n.resource {{
             provider = fake; type = "fake_thing"; name = "a"; config = {{ name = "a"; }};
           }}) ]; }}"#
    ));
}

fn address(server: &Server) -> String {
    format!("{}/ns/fake", server.host)
}

fn apply(workspace: &Workspace) -> Output {
    workspace.run_stack("apply", &["--auto-approve"])
}

fn providers(workspace: &Workspace, args: &[&str]) -> Output {
    workspace.run([&["providers"], args, &["--file", "stack.nix"]].concat())
}

fn lock_file(workspace: &Workspace) -> Json {
    let bytes = fs::read(workspace.path("nivis.lock.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// The locked version and the begins of the locked hashes.
fn locked(workspace: &Workspace, address: &str) -> (String, Vec<String>) {
    let entry = lock_file(workspace)["providers"][address].clone();
    let hashes = entry["hashes"].as_array().unwrap().iter();
    let kinds = hashes.map(|hash| hash.as_str().unwrap()[..3].to_owned());
    (
        entry["version"].as_str().unwrap().to_owned(),
        kinds.collect(),
    )
}

/// Copies a folder into another workspace.
fn copy_tree(from: &Path, to: &Path) {
    nivis::fs::copy_tree(from, to, "no such name").unwrap();
}

#[test]
fn a_provider_is_installed_locked_and_then_needs_no_network() {
    let server = Server::start();
    let releases = ["1.1.0", "1.2.0", "1.4.0", "2.0.0", "1.5.0-beta1"].map(Release::new);
    publish(&server, &releases, &key());
    let address = address(&server);
    let workspace = workspace(&address, Some("~> 1.2"));

    let output = workspace.run_stack("plan", &[]).success();
    output
        .says(&format!("fetching {address} 1.4.0 for"))
        .says("is signed by the key");
    let asked = server.asked();
    let expected = [
        "/.well-known/terraform.json".to_owned(),
        "/v1/providers/ns/fake/versions".to_owned(),
        download("1.4.0"),
        sums_path("1.4.0"),
        format!("{}.sig", sums_path("1.4.0")),
        archive_path("1.4.0"),
    ];
    assert_eq!(asked, expected);
    let (version, kinds) = locked(&workspace, &address);
    assert_eq!(
        (version.as_str(), kinds.as_slice()),
        ("1.4.0", &["h1:".to_owned(), "zh:".to_owned()][..])
    );
    assert_eq!(
        lock_file(&workspace)["providers"][&address]["constraints"],
        "~> 1.2"
    );

    let before = fs::read(workspace.path("nivis.lock.json")).unwrap();
    apply(&workspace).success().is_silent_about("fetching");
    apply(&workspace).success();
    assert_eq!(server.asked(), [""; 0], "locked and cached");
    drop(server);
    workspace
        .run_stack("destroy", &["--auto-approve"])
        .success();
    assert_eq!(fs::read(workspace.path("nivis.lock.json")).unwrap(), before);
}

#[test]
fn a_lock_file_alone_gives_the_same_package_elsewhere_and_nothing_without_server() {
    let server = Server::start();
    publish(&server, &[Release::new("1.2.0")], &key());
    let here = workspace(&address(&server), Some("~> 1.2"));
    workspace_is_fine(&here);
    // Later there is a newer version; the lock file says which one is meant.
    publish(
        &server,
        &[Release::new("1.2.0"), Release::new("1.3.0")],
        &key(),
    );
    let there = workspace(&address(&server), Some("~> 1.2"));
    let lock = fs::read(here.path("nivis.lock.json")).unwrap();
    overwrite(&there.path("nivis.lock.json"), &lock).unwrap();
    server.asked();
    workspace_is_fine(&there);
    let asked = server.asked();
    assert!(
        !asked.iter().any(|path| path.ends_with("/versions")),
        "{asked:?}"
    );
    assert_eq!(fs::read(there.path("nivis.lock.json")).unwrap(), lock);

    let gone = workspace(&address(&server), Some("~> 1.2"));
    overwrite(&gone.path("nivis.lock.json"), &lock).unwrap();
    let host = server.host.clone();
    drop(server);
    apply(&gone)
        .exits(1)
        .says("with provider.fake")
        .says(&format!("http://{host}/.well-known/terraform.json"))
        .says("hint: is the network reachable?");
    // With the cache of the first, it needs no server.
    copy_tree(
        &here.root().join("home/.cache"),
        &gone.root().join("home/.cache"),
    );
    workspace_is_fine(&gone);
}

fn workspace_is_fine(workspace: &Workspace) {
    workspace.run_stack("plan", &[]).success();
}

/// Serves version 1.2.3 of registry.example.org/ns/fake by the mirror protocol, below `/mirror/`.
fn serve_mirror(mirror: &Server) {
    let zip = package("1.2.3");
    let (os, arch) = platform();
    let name = archive_name("1.2.3", &(os.clone(), arch.clone()));
    let base = "/mirror/registry.example.org/ns/fake";
    let index = r#"{"versions":{"1.2.3":{},"0.9.0":{}}}"#;
    mirror.serve(&format!("{base}/index.json"), Reply::ok(index));
    let document = json!({ "archives": { format!("{os}_{arch}"): {
        "url": format!("../{name}"), "hashes": [format!("zh:{}", sha256(&zip)), "h9:from the future"],
    } } });
    let path = format!("{base}/1.2.3.json");
    mirror.serve(&path, Reply::ok(document.to_string()));
    let path = format!("/mirror/registry.example.org/ns/{name}");
    mirror.serve(&path, Reply::ok(zip));
}

#[test]
fn a_network_mirror_serves_in_place_of_registries() {
    let mirror = Server::start();
    serve_mirror(&mirror);
    let mut workspace = workspace("registry.example.org/ns/fake", Some(">= 1.0"));
    workspace.set_env("NIVIS_PROVIDER_MIRROR", mirror.url("/mirror"));
    let applied = apply(&workspace).success();
    applied.says("from the mirror http://127.0.0.1");
    let (version, _) = locked(&workspace, "registry.example.org/ns/fake");
    assert_eq!(version, "1.2.3");
    assert_eq!(mirror.asked().len(), 3);
}

#[test]
fn servers_that_encrypt_are_trusted_by_their_certificate() {
    let (mirror, certificate) = Server::start_tls();
    serve_mirror(&mirror);
    let mut workspace = workspace("registry.example.org/ns/fake", None);
    let port = mirror.host.split_once(':').unwrap().1;
    workspace.set_env(
        "NIVIS_PROVIDER_MIRROR",
        format!("https://localhost:{port}/mirror/"),
    );
    apply(&workspace)
        .exits(1)
        .says("certificate")
        .says("is named by SSL_CERT_FILE");
    workspace.write("authority.pem", &certificate);
    let file = workspace.path("authority.pem");
    workspace.set_env("SSL_CERT_FILE", file);
    apply(&workspace).success();
}

#[test]
fn what_leaves_the_machine_goes_through_the_proxy() {
    let proxy = Server::start();
    let mut workspace = workspace("registry.invalid/ns/fake", None);
    workspace.set_env("HTTPS_PROXY", proxy.url(""));
    apply(&workspace).exits(1).says("registry.invalid");
    assert_eq!(proxy.asked(), ["registry.invalid:443"; 3]);
    workspace.set_env("NO_PROXY", "registry.invalid");
    apply(&workspace).exits(1).says("registry.invalid");
    assert_eq!(proxy.asked(), [""; 0]);
}

/// Terraform and OpenTofu take the mirror that nivis writes, and find the hashes that nivis has locked.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "another host is run as a user does"
)]
fn other_hosts_read_the_mirror_and_agree_on_the_hashes() {
    let mut workspace = workspace("registry.example.org/ns/fake", None);
    let file = archive_name("1.2.0", &platform());
    let file = format!("packed/registry.example.org/ns/fake/{file}");
    workspace.write(&file, "");
    overwrite(&workspace.path(&file), &package("1.2.0")).unwrap();
    workspace.set_env("NIVIS_PROVIDER_MIRROR", "packed");
    providers(&workspace, &["mirror", "m"]).success();
    let ours = fs::read_to_string(workspace.path("nivis.lock.json")).unwrap();
    let settings = format!(
        "provider_installation {{ filesystem_mirror {{ path = {:?} }} }}",
        workspace.path("m")
    );
    workspace.write("cli.tfrc", &settings);
    workspace.write(
        "tf/main.tf",
        "terraform {\n  required_providers {\n    fake = { source = \"registry.example.org/ns/fake\" }\n  }\n}\n",
    );
    for host in hosts() {
        let ran = Command::new(host)
            .arg("init")
            .current_dir(workspace.path("tf"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", workspace.path(""))
            .env("TF_CLI_CONFIG_FILE", workspace.path("cli.tfrc"))
            .env("CHECKPOINT_DISABLE", "1")
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        let lock = workspace.path("tf/.terraform.lock.hcl");
        let theirs = fs::read_to_string(&lock).unwrap();
        let hashes: Vec<&str> = theirs.split('"').filter(|t| t.starts_with("h1:")).collect();
        assert_eq!(hashes.len(), 1, "{theirs}");
        assert!(ours.contains(hashes[0]), "{theirs}\n{ours}");
        fs::remove_file(lock).unwrap();
    }
}

#[test]
fn a_filesystem_mirror_serves_packed_and_unpacked() {
    let (os, arch) = platform();
    let here = (os.clone(), arch.clone());
    for packed in [true, false] {
        let mut workspace = workspace("ns/fake", Some("~> 1.0"));
        let base = "mirror/registry.example.org/ns/fake";
        if packed {
            for version in ["1.0.0", "1.2.0"] {
                let file = format!("{base}/{}", archive_name(version, &here));
                workspace.write(&file, "");
                overwrite(&workspace.path(&file), &package(version)).unwrap();
            }
        } else {
            for version in ["1.0.0", "1.2.0"] {
                let file =
                    format!("{base}/{version}/{os}_{arch}/terraform-provider-fake_v{version}");
                workspace.write(&file, &String::from_utf8(program(version)).unwrap());
                nivis::fs::tree::make_executable(&workspace.path(&file)).unwrap();
            }
        }
        workspace.set_env("NIVIS_REGISTRY", "registry.example.org");
        workspace.set_env("NIVIS_PROVIDER_MIRROR", "mirror");
        apply(&workspace).success();
        assert_eq!(
            locked(&workspace, "registry.example.org/ns/fake").0,
            "1.2.0"
        );
        // A package that is not the locked one is refused, wherever it is.
        if !packed {
            let file = format!("{base}/1.2.0/{os}_{arch}/terraform-provider-fake_v1.2.0");
            workspace.write(&file, "#!/bin/sh\nexit 1\n");
            apply(&workspace)
                .exits(1)
                .says("which is none of the 1 in the lock file");
        }
    }
}

#[test]
fn the_first_place_that_knows_the_provider_counts() {
    let server = Server::start();
    publish(&server, &[Release::new("1.2.0")], &key());
    let mut workspace = workspace(&address(&server), None);
    fs::create_dir(workspace.path("empty")).unwrap();
    workspace.set_env("NIVIS_PROVIDER_MIRROR", "empty, direct");
    apply(&workspace).success().says("from its registry");
    workspace.set_env("NIVIS_PROVIDER_MIRROR", "http://mirror.example.org/");
    apply(&workspace)
        .exits(1)
        .says("NIVIS_PROVIDER_MIRROR: \"http://mirror.example.org/\" is not encrypted");
}

#[test]
fn locking_for_several_platforms_and_mirroring_them() {
    let server = Server::start();
    let (here, there) = (platform(), ("plan9".to_owned(), "mips".to_owned()));
    let release = Release {
        platforms: vec![here.clone(), there.clone()],
        ..Release::new("1.2.0")
    };
    let key = key();
    publish(&server, &[release], &key);
    let foreign = publish::archive(&[("terraform-provider-fake_v1.2.0", b"other\n")]);
    publish_packages(
        &server,
        "1.2.0",
        &[(&here, package("1.2.0")), (&there, foreign)],
        &key,
    );
    let address = address(&server);
    let mut workspace = workspace(&address, Some("~> 1.2"));
    let hereabouts = format!("{}_{}", here.0, here.1);
    let platforms = ["--platform", &hereabouts, "--platform", "plan9_mips"];
    providers(&workspace, &[&["lock"], &platforms[..]].concat())
        .success()
        .says(&format!("{address} is locked to 1.2.0"));
    assert_eq!(locked(&workspace, &address).1, ["h1:", "h1:", "zh:", "zh:"]);
    providers(&workspace, &[])
        .success()
        .says(&format!("fake  {address}  ~> 1.2  locked to 1.2.0"));

    providers(&workspace, &[&["mirror", "m"], &platforms[..]].concat())
        .success()
        .says("2 packages are in m.");
    let folder = workspace.path("m").join(&address);
    let document: Json =
        serde_json::from_slice(&fs::read(folder.join("1.2.0.json")).unwrap()).unwrap();
    assert_eq!(
        document["archives"]["plan9_mips"]["url"],
        archive_name("1.2.0", &there)
    );
    assert_eq!(
        document["archives"]["plan9_mips"]["hashes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    // The mirror serves on disk, without the registry and without a cache.
    drop(server);
    fs::remove_dir_all(workspace.root().join("home/.cache/nivis/providers")).unwrap();
    workspace.set_env("NIVIS_PROVIDER_MIRROR", "m");
    apply(&workspace).success();
}

#[test]
fn versions_change_only_when_asked_to() {
    let server = Server::start();
    let key = key();
    publish(&server, &[Release::new("1.2.0")], &key);
    let address = address(&server);
    let workspace = workspace(&address, Some("~> 1.2"));
    apply(&workspace).success();
    publish(
        &server,
        &[
            Release::new("1.2.0"),
            Release::new("1.3.0"),
            Release::new("2.0.0"),
        ],
        &key,
    );
    providers(&workspace, &["lock"])
        .success()
        .says("locked to 1.2.0");
    providers(&workspace, &["lock", "--upgrade"])
        .success()
        .says("locked to 1.3.0");
    stack(&workspace, &address, Some("~> 2.0"));
    apply(&workspace)
        .exits(1)
        .says(&format!(
            "{address} is locked to 1.3.0, which is not `~> 2.0` (provider.fake)"
        ))
        .says("hint: run `nivis providers lock`");
    providers(&workspace, &["lock"])
        .success()
        .says("locked to 2.0.0");
    apply(&workspace).success();
    // Nobody needs it: neither the stack nor, after destroy, the state.
    workspace.stack("{ resources = [ ]; }");
    providers(&workspace, &["lock"]).success();
    assert_eq!(
        locked(&workspace, &address).0,
        "2.0.0",
        "the state still has an object"
    );
    apply(&workspace).success();
    providers(&workspace, &["lock"]).success();
    assert_eq!(lock_file(&workspace)["providers"], json!({}));
}

#[test]
fn tokens_retries_and_redirects() {
    let server = Server::start();
    publish(&server, &[Release::new("1.2.0")], &key());
    let archive = server.served(&archive_path("1.2.0"));
    server.serve("/elsewhere", archive);
    server.serve(&archive_path("1.2.0"), Reply::redirect("/elsewhere"));
    let versions = "/v1/providers/ns/fake/versions";
    let good = server.served(versions);
    let busy = Reply {
        headers: vec![("Retry-After", "0".to_owned())],
        ..Reply::status(429)
    };
    server.serve_in_turn(versions, vec![busy, Reply::status(503), good]);
    server.demand_token("secret");
    let mut workspace = workspace(&address(&server), None);
    apply(&workspace)
        .exits(1)
        .says("the server says 401 (Unauthorized)")
        .says("hint: a token for this host goes into TF_TOKEN_127_0_0_1");
    workspace.set_env("TF_TOKEN_127_0_0_1", "secret");
    server.asked();
    apply(&workspace).success();
    let asked = server.asked();
    assert_eq!(
        asked.iter().filter(|path| *path == versions).count(),
        3,
        "{asked:?}"
    );
    assert_eq!(asked.last().unwrap(), "/elsewhere");
}

#[test]
fn two_runs_at_once_fetch_a_package_once() {
    let server = Server::start();
    publish(&server, &[Release::new("1.2.0")], &key());
    let one = workspace(&address(&server), None);
    let mut two = workspace(&address(&server), None);
    two.set_env(
        "NIVIS_PROVIDER_CACHE",
        one.root().join("home/.cache/nivis/providers"),
    );
    std::thread::scope(|scope| {
        for workspace in [&one, &two] {
            scope.spawn(|| workspace_is_fine(workspace));
        }
    });
    let asked = server.asked();
    let fetched = asked
        .iter()
        .filter(|path| **path == archive_path("1.2.0"))
        .count();
    assert_eq!(fetched, 1, "{asked:?}");
    assert_eq!(lock_file(&one), lock_file(&two));
}

#[test]
fn the_schema_of_what_a_stack_declares() {
    let server = Server::start();
    publish(&server, &[Release::new("1.2.0")], &key());
    let workspace = workspace(&address(&server), None);
    let schemas = providers(&workspace, &["schema", "--json"])
        .success()
        .json();
    let schema = &schemas["provider_schemas"][address(&server)];
    assert!(schema["resource_schemas"]["fake_thing"]["block"]["attributes"]["name"].is_object());
}

/// A stack with a provider from each of these servers.
fn stack_of_many(workspace: &Workspace, servers: &[Server]) {
    let things = servers.iter().enumerate().map(|(i, server)| {
        let source = address(server);
        format!(
            r#"(n.resource {{
                provider = n.provider {{ id = "p{i}"; source = "{source}"; }};
                type = "fake_thing"; name = "a"; config.name = "a{i}";
            }})"#
        )
    });
    let things: String = things.collect();
    workspace.stack(&format!("{{ resources = [ {things} ]; }}"));
}

#[test]
fn several_providers_are_fetched_side_by_side() {
    let servers = [Server::start(), Server::start(), Server::start()];
    for command in ["plan", "providers lock", "providers schema --json"] {
        let meeting = Meeting::of(servers.len());
        for server in &servers {
            publish(server, &[Release::new("1.0.0")], &key());
            let reply = server.served(&archive_path("1.0.0"));
            let meeting = Some(meeting.clone());
            server.serve(&archive_path("1.0.0"), Reply { meeting, ..reply });
        }
        let workspace = Workspace::new();
        stack_of_many(&workspace, &servers);
        let words = command.split(' ').chain(["--file", "stack.nix"]);
        workspace.run(words).success();
        let locked = lock_file(&workspace)["providers"].clone();
        assert_eq!(locked.as_object().unwrap().len(), 3, "{command}");
    }
}

#[test]
fn a_lock_file_that_is_read_only_stays_as_it_is() {
    let server = Server::start();
    publish(
        &server,
        &[Release::new("1.2.0"), Release::new("1.3.0")],
        &key(),
    );
    let address = address(&server);
    let workspace = workspace(&address, Some("1.2.0"));
    let readonly = "--lockfile=readonly";

    let not_locked =
        format!("nivis.lock.json would have to change, and is read-only: {address} is not locked");
    workspace
        .run_stack("plan", &[readonly])
        .exits(1)
        .says(&not_locked)
        .says("run `nivis providers lock` without `--lockfile=readonly`");
    providers(&workspace, &["lock", readonly])
        .exits(1)
        .says(&not_locked);
    assert!(!workspace.path("nivis.lock.json").exists());

    providers(&workspace, &["lock"]).success();
    let before = fs::read(workspace.path("nivis.lock.json")).unwrap();
    workspace
        .run_stack("apply", &["--auto-approve", readonly])
        .success();
    providers(&workspace, &["lock", readonly]).success();

    stack(&workspace, &address, Some("1.3.0"));
    workspace
        .run_stack("plan", &[readonly])
        .exits(1)
        .says("is locked to 1.2.0, which is not");
    providers(&workspace, &["lock", readonly])
        .exits(1)
        .says(&format!("{address} is locked to 1.2.0, and is to be 1.3.0"));
    workspace.stack("{ resources = [ ]; }");
    fs::remove_dir_all(workspace.path(".nivis")).unwrap();
    providers(&workspace, &["lock", readonly])
        .exits(1)
        .says(&format!("{address} is locked and not needed"));
    assert_eq!(fs::read(workspace.path("nivis.lock.json")).unwrap(), before);
}

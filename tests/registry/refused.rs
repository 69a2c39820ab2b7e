//! What must not be run is not, and the person is told what, where and why. Nothing of it is locked or kept.

use self::publish::archive;
use super::*;

/// Spoils what the server has of version 1.2.0, which is all there is.
type Spoil = fn(&Server);

fn replace(server: &Server, path: &str, change: impl FnOnce(&mut Json)) {
    let mut document: Json = serde_json::from_slice(&server.served(path).body).unwrap();
    change(&mut document);
    server.serve(path, Reply::ok(document.to_string()));
}

/// Publishes another archive as version 1.2.0, with everything about it in order.
fn published(server: &Server, zip: Vec<u8>) {
    publish_packages(server, "1.2.0", &[(&platform(), zip)], &key());
}

fn versions(server: &Server, change: fn(&mut Json)) {
    replace(server, "/v1/providers/ns/fake/versions", change);
}

const ROWS: &[(&str, Spoil, &[&str])] = &[
    (
        "the archive is another",
        |server| server.serve(&archive_path("1.2.0"), Reply::ok(package("6.6.6"))),
        &[
            "from its registry has the hash zh:",
            "but should have zh:",
            "hint: the download or the place is damaged",
        ],
    ),
    (
        "the archive is cut short",
        |server| {
            let mut reply = server.served(&archive_path("1.2.0"));
            reply.sent /= 2;
            server.serve(&archive_path("1.2.0"), reply);
        },
        &["ns/fake 1.2.0: http://127.0.0.1", "the answer broke off"],
    ),
    (
        "the registry names another checksum than the signed list",
        |server| {
            replace(server, &download("1.2.0"), |d| {
                d["shasum"] = "0".repeat(64).into();
            });
        },
        &[
            "does not list terraform-provider-fake_1.2.0_",
            "hint: do not use this package",
        ],
    ),
    (
        "the list is not the signed one",
        |server| {
            let mut sums = server.served(&sums_path("1.2.0")).body;
            sums.extend_from_slice(format!("{}  other.zip\n", "0".repeat(64)).as_bytes());
            server.serve(&sums_path("1.2.0"), Reply::ok(sums));
        },
        &[
            "SHA256SUMS: the signature of the key",
            "does not fit the file",
            "hint: do not use this package",
        ],
    ),
    (
        "the signature is another's",
        |server| {
            let path = format!("{}.sig", sums_path("1.2.0"));
            let other = Server::start();
            publish(&other, &[Release::new("1.2.0")], &key());
            server.serve(&path, other.served(&path));
        },
        &[
            "SHA256SUMS: the signature was made with the key",
            "but the registry names",
        ],
    ),
    (
        "the signature is none",
        |server| server.serve(&format!("{}.sig", sums_path("1.2.0")), Reply::ok("junk")),
        &["SHA256SUMS: the signature cannot be read"],
    ),
    (
        "a name in the archive leads out",
        |server| {
            let script = program("1.2.0");
            published(
                server,
                archive(&[("terraform-provider-fake", &script), ("../../out", b"x")]),
            );
        },
        &["ns/fake 1.2.0: the archive names a file \"../../out\""],
    ),
    (
        "the archive has no provider",
        |server| published(server, archive(&[("terraform-provider-other", b"x")])),
        &["has no file terraform-provider-fake*"],
    ),
    (
        "the archive is no archive",
        |server| published(server, b"not a zip".to_vec()),
        &["is no whole ZIP archive"],
    ),
    (
        "the server is no registry",
        |server| {
            server.serve(
                "/.well-known/terraform.json",
                Reply::ok(r#"{"modules.v1":"/"}"#),
            );
        },
        &["is no provider registry"],
    ),
    (
        "the registry does not know the provider",
        |server| server.serve("/v1/providers/ns/fake/versions", Reply::status(404)),
        &[
            "ns/fake is not known to its registry",
            "hint: is `ns/fake` spelled",
        ],
    ),
    (
        "the registry answers nonsense",
        |server| server.serve("/v1/providers/ns/fake/versions", Reply::ok("<html>")),
        &["/versions is not what a provider registry answers"],
    ),
    (
        "the registry sends us to a place without encryption",
        |server| {
            server.serve(
                &archive_path("1.2.0"),
                Reply::redirect("http://example.org/x.zip"),
            );
        },
        &["redirects to a URL that cannot be used: \"http://example.org/x.zip\" is not encrypted"],
    ),
    (
        "the registry sends us around",
        |server| {
            server.serve(
                &archive_path("1.2.0"),
                Reply::redirect(&archive_path("1.2.0")),
            );
        },
        &["more than 5 redirects"],
    ),
    (
        "no version is wanted",
        |server| versions(server, |d| d["versions"][0]["version"] = "2.1.0".into()),
        &[
            "no version of",
            "ns/fake is `~> 1.2` (provider.fake); the newest are 2.1.0",
            "hint: the newest would be version = \"~> 2.1\"",
        ],
    ),
    (
        "there are only pre-releases",
        |server| {
            versions(server, |d| {
                d["versions"][0]["version"] = "1.3.0-beta1".into();
            });
        },
        &[
            "the newest are 1.3.0-beta1",
            "hint: a pre-release is taken only if it is asked for: version = \"= 1.3.0-beta1\"",
        ],
    ),
    (
        "it is not built for this machine",
        |server| {
            versions(server, |d| {
                d["versions"][0]["platforms"][0]["os"] = "plan9".into();
            });
        },
        &[
            "ns/fake 1.2.0, the newest that is `~> 1.2` (provider.fake), is not built for",
            "but for plan9_",
        ],
    ),
    (
        "it speaks an old protocol",
        |server| versions(server, |d| d["versions"][0]["protocols"][0] = "4.0".into()),
        &["speaks plugin protocol 4.0; nivis speaks 5 and 6"],
    ),
];

#[test]
fn nothing_wrong_is_installed() {
    // Keys take a while to make; each row has a registry of its own.
    std::thread::scope(|scope| {
        for chunk in ROWS.chunks(ROWS.len().div_ceil(3)) {
            scope.spawn(move || chunk.iter().for_each(refused));
        }
    });
}

fn refused((what, spoil, said): &(&str, Spoil, &[&str])) {
    eprintln!("{what}");
    let server = Server::start();
    publish(&server, &[Release::new("1.2.0")], &key());
    spoil(&server);
    let workspace = workspace(&address(&server), Some("~> 1.2"));
    let mut output = workspace
        .run_stack("plan", &[])
        .exits(1)
        .says("with provider.fake");
    for text in *said {
        output = output.says(text);
    }
    output.is_silent_about("panicked");
    assert!(!workspace.path("nivis.lock.json").exists(), "{what}");
    let cache = workspace.root().join("home/.cache/nivis/providers");
    if cache.exists() {
        let files = nivis::fs::tree::files(&cache).unwrap();
        assert_eq!(files, [""; 0], "{what}");
    }
    assert!(
        !workspace.root().join("home/.cache/nivis/out").exists(),
        "{what}"
    );
}

#[test]
fn a_package_that_changed_since_it_was_locked() {
    let server = Server::start();
    let key = key();
    publish(&server, &[Release::new("1.2.0")], &key);
    let workspace = workspace(&address(&server), Some("~> 1.2"));
    workspace_is_fine(&workspace);
    fs::remove_dir_all(workspace.root().join("home/.cache")).unwrap();
    publish_packages(&server, "1.2.0", &[(&platform(), package("6.6.6"))], &key);
    let before = fs::read(workspace.path("nivis.lock.json")).unwrap();
    apply(&workspace)
        .exits(1)
        .says("with provider.fake")
        .says("which is none of the 2 in the lock file")
        .says("somebody has changed a published package");
    // Locking again does not hide it.
    providers(&workspace, &["lock"])
        .exits(1)
        .says("in the lock file");
    assert_eq!(fs::read(workspace.path("nivis.lock.json")).unwrap(), before);
}

#[test]
fn a_cached_package_that_changed_is_fetched_again() {
    let server = Server::start();
    publish(&server, &[Release::new("1.2.0")], &key());
    let workspace = workspace(&address(&server), Some("~> 1.2"));
    workspace_is_fine(&workspace);
    let (os, arch) = platform();
    let program = format!(
        "home/.cache/nivis/providers/{}/1.2.0/{os}_{arch}/terraform-provider-fake_v1.2.0",
        address(&server)
    );
    overwrite(&workspace.root().join(program), b"#!/bin/sh\nexit 1\n").unwrap();
    apply(&workspace).success().says("fetching");
}

#[test]
fn one_source_has_one_version() {
    let server = Server::start();
    publish(
        &server,
        &["1.2.0", "1.4.0", "2.0.0"].map(Release::new),
        &key(),
    );
    let address = address(&server);
    let workspace = workspace(&address, None);
    let two = |a: &str, b: &str| {
        workspace.stack(&format!(
            r#"let provider = id: version: n.provider {{ inherit id version; source = "{address}"; }};
                   thing = provider: n.resource {{
                     inherit provider; type = "fake_thing"; name = "a"; config.name = "a";
                   }};
               in {{ resources = [ (thing (provider "one" "{a}")) (thing (provider "two" "{b}")) ]; }}"#
        ));
    };
    two("~> 1.2", "< 1.4");
    workspace_is_fine(&workspace);
    assert_eq!(locked(&workspace, &address).0, "1.2.0");
    fs::remove_file(workspace.path("nivis.lock.json")).unwrap();
    two("~> 1.2", "~> 2.0");
    workspace
        .run_stack("plan", &[])
        .exits(1)
        .says("is `~> 1.2` (provider.one) and `~> 2.0` (provider.two)")
        .says("hint: providers with one source run one version");
}

#[test]
fn mistakes_in_the_declaration() {
    let rows = [
        (
            "ns/fake",
            Some("^1.2"),
            "Invalid provider version",
            "hint: write for example",
        ),
        (
            "ns/fake",
            Some("v1.2"),
            "Invalid provider version",
            "hint: leave out the `v`",
        ),
        (
            "fake",
            None,
            "\"fake\" is not `[<host>/]<namespace>/<type>`",
            "hint: write \"hashicorp/fake\"",
        ),
    ];
    for (source, version, message, hint) in rows {
        let workspace = workspace(source, version);
        let output = workspace.run_stack("plan", &[]).exits(1);
        output.says("with provider.fake").says(message).says(hint);
    }
    // Only a registry has versions.
    for source in ["builtin", "./fake"] {
        let workspace = workspace(source, Some("1.2"));
        let output = workspace.run_stack("plan", &[]).exits(1);
        output.says("'fake' has a 'version'");
    }
    // What looks like an address, and is a file here.
    let mut workspace = workspace("bin/fake", None);
    workspace.write("bin/fake", "");
    workspace.set_env("NIVIS_REGISTRY", "127.0.0.1:1");
    workspace
        .run_stack("plan", &[])
        .exits(1)
        .says("hint: a path starts with ./ or /: write \"./bin/fake\"");
}

#[test]
fn a_damaged_lock_file_is_named() {
    let workspace = workspace("127.0.0.1:1/ns/fake", None);
    workspace.write("nivis.lock.json", "{}");
    workspace
        .run_stack("plan", &[])
        .exits(1)
        .says("nivis.lock.json: missing field `version`")
        .says("hint: restore the lock file");
}

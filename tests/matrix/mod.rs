//! Real provider plugins, a stack each: created, updated in place, replaced, imported and destroyed, with nothing left to do in between.
//!
//! `tests/providers/<name>` holds what differs between them. Where Terraform is installed, it leads the same stacks through the
//! same life, and what the two remember of every object must be the same.

mod case;
mod nivis;
mod round_trip;
mod schemas;
mod server;
mod services;
mod table;
mod terraform;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use serde_json::{Value as Json, json};

use crate::support::Workspace;
use case::{Case, Does, Import, Plugin, Server};
use nivis::Nivis;
use server::Running;
use services::{Kubernetes, OpenStack, Pages, Vault};
use terraform::Terraform;

/// What a host remembers: schema version and attributes of every object, by `<type>.<name>`, and outputs by `output.<name>`.
type Objects = BTreeMap<String, (Json, Json)>;

/// Something that can carry out a stack.
trait Host {
    /// Applies the stack as it is at a step, which must do what the step says.
    fn apply(&self, step: usize, case: &Case);

    /// Checks that there is nothing to do.
    fn settled(&self);

    /// Forgets the objects with these names.
    fn forget(&self, names: &[&str]);

    /// Takes over an object by the provider's id for it, at once. The error is what the host says.
    fn import(&self, name: &str, id: &str) -> Result<(), String>;

    /// Applies the stack as it is at a step, in which objects are `imported`, by their provider's ids, and which otherwise must
    /// do no more than what imports need.
    fn adjust(&self, step: usize, case: &Case, imported: &BTreeMap<String, String>);

    /// What it remembers.
    fn objects(&self) -> Objects;

    fn destroy(&self);
}

/// What was seen of a provider.
struct Outcome {
    plugin: Plugin,
    case: Case,
    /// Types of the objects and data sources of its stack that are its own, the latter with `data` in front.
    types: BTreeSet<String>,
    /// Whether its stack reads data sources.
    reads: bool,
}

/// Leads a stack through its life. Gives what the host remembered after each step.
fn live(host: &impl Host, case: &Case, server: Option<&Running>) -> Vec<Objects> {
    let remembered = (0..case.steps.len()).map(|step| {
        host.apply(step, case);
        host.settled();
        host.objects()
    });
    let mut remembered: Vec<_> = remembered.collect();
    remembered.extend(taken_over(host, case, remembered.last().unwrap()));
    host.destroy();
    let left = host.objects();
    assert!(left.is_empty(), "still there: {left:?}");
    let left = server.map(Running::objects).unwrap_or_default();
    assert!(left.is_empty(), "still on the server: {left:?}");
    for (name, reason) in &case.import.refused {
        let said = host.import(name, "id").expect_err("it is refused");
        assert!(said.contains(reason), "{reason:?} is missing\n{said}");
    }
    remembered
}

/// Forgets the objects of a stack that can be imported and takes them over again: one by one, then in an apply. Gives what the
/// host remembered after each.
fn taken_over(host: &impl Host, case: &Case, objects: &Objects) -> Vec<Objects> {
    let ids = case.import.ids(objects);
    if ids.is_empty() {
        return Vec::new();
    }
    let names: Vec<_> = ids.keys().map(String::as_str).collect();
    let last = case.steps.len() - 1;
    host.forget(&names);
    for (name, id) in &ids {
        let imported = host.import(name, id);
        imported.unwrap_or_else(|said| panic!("{name} is not imported by {id:?}: {said}"));
    }
    let at_once = host.objects();
    if case.import.changed > 0 {
        host.adjust(last, case, &BTreeMap::new());
    }
    host.settled();
    host.forget(&names);
    host.adjust(last, case, &ids);
    host.settled();
    vec![at_once, host.objects()]
}

fn start(server: Server) -> Running {
    match server {
        Server::Kubernetes => Running::start(Kubernetes::default()),
        Server::Pages => Running::start(Pages),
        Server::Vault => Running::start(Vault::default()),
        Server::OpenStack => Running::start(OpenStack::default()),
    }
}

/// With values that differ from run to run replaced.
fn comparable(mut objects: Objects, case: &Case) -> Objects {
    for (name, (_, value)) in &mut objects {
        let ty = name.split('.').next().unwrap();
        for random in &case.random {
            match random.split_once('.').unwrap() {
                ("output", _) if random == name => *value = json!("random"),
                (of, attribute) if of == ty => {
                    let value = value.get_mut(attribute).filter(|value| !value.is_null());
                    if let Some(value) = value {
                        *value = json!("random");
                    }
                }
                _ => {}
            }
        }
    }
    objects
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tests' own PATH says where Terraform is"
)]
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|program| program.is_file())
}

/// Fails if a process that was started in a workspace is still there.
fn no_orphans(workspace: &Workspace) {
    let root = workspace.root().as_os_str().as_encoded_bytes();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        // Processes come and go, and those of others cannot be read.
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_ours = environment.windows(root.len()).any(|part| part == root);
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        assert!(!is_ours, "an orphan: {} {command}", entry.path().display());
    }
}

/// Leads a provider's stack through its life, in nivis and, where it is, in Terraform.
fn run(plugin: &Plugin) -> Outcome {
    let case = Case::of(&plugin.name);
    let workspace = nivis::workspace(&case);
    let version = nivis::handshake(plugin, &case.environment, workspace.root());
    assert_eq!(version, case.protocol, "protocol of {}", plugin.name);
    let stack = |server: Option<&Running>| Nivis {
        workspace: &workspace,
        provider: &plugin.name,
        server: server.map(|s| s.address.clone()).unwrap_or_default(),
    };

    let server = case.server.map(start);
    let ours = stack(server.as_ref());
    let remembered = live(&ours, &case, server.as_ref());
    no_orphans(&workspace);
    let ir = ours.ir();

    if let Some(program) = find("terraform") {
        let server = case.server.map(start);
        let theirs = Terraform::new(program, stack(server.as_ref()), &case);
        let others = live(&theirs, &case, server.as_ref());
        for (step, (ours, theirs)) in remembered.into_iter().zip(others).enumerate() {
            let (ours, theirs) = (comparable(ours, &case), comparable(theirs, &case));
            assert_same(&ours, &theirs, &format!("{}, step {step}", plugin.name));
        }
    }
    let nodes = |list: &str| ir[list].as_array().cloned().unwrap_or_default();
    let own = |node: &Json| {
        (node["provider"] == plugin.name).then(|| nivis::text(&node["type"]).to_owned())
    };
    let data = nodes("dataSources");
    let managed = nodes("resources");
    let importable = Import::types(&case.import.objects);
    let refused = Import::types(&case.import.refused);
    for ty in managed.iter().filter_map(own) {
        let known = importable.contains(&*ty) || refused.contains(&*ty);
        assert!(
            known,
            "whether {ty} can be imported is not in matrix.json of {}",
            plugin.name
        );
    }
    Outcome {
        types: managed
            .iter()
            .filter_map(own)
            .chain(data.iter().filter_map(own).map(|ty| format!("data.{ty}")))
            .collect(),
        reads: !data.is_empty(),
        plugin: plugin.clone(),
        case,
    }
}

/// Compares object by object, attribute by attribute.
#[track_caller]
fn assert_same(ours: &Objects, theirs: &Objects, what: &str) {
    let names = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(ours), names(theirs), "{what}");
    for (name, (version, value)) in ours {
        let (their_version, their_value) = &theirs[name];
        assert_eq!(version, their_version, "{what}: schema version of {name}");
        match (value.as_object(), their_value.as_object()) {
            (Some(value), Some(their_value)) => {
                let attributes: BTreeSet<_> = value.keys().chain(their_value.keys()).collect();
                for attribute in attributes {
                    assert_eq!(
                        value.get(attribute),
                        their_value.get(attribute),
                        "{what}: {name}.{attribute} here and in Terraform"
                    );
                }
            }
            _ => assert_eq!(value, their_value, "{what}: {name} here and in Terraform"),
        }
    }
}

/// What was seen of each provider. A provider's life is led once, by whichever test asks first.
static OUTCOMES: LazyLock<BTreeMap<String, OnceLock<Outcome>>> = LazyLock::new(|| {
    let names = case::plugins().into_iter().map(|plugin| plugin.name);
    names.map(|name| (name, OnceLock::new())).collect()
});

fn outcome(name: &str) -> &'static Outcome {
    let once = OUTCOMES.get(name);
    let once = once.unwrap_or_else(|| panic!("{name} is not in tests/providers/plugins"));
    once.get_or_init(|| run(&Plugin::named(name)))
}

macro_rules! providers {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                outcome(stringify!($name));
            }
        )*

        /// Providers with a test.
        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

providers! {
    coder
    coder6
    framework
    http
    kubernetes
    local
    notes
    null
    openstack
    pyvider
    random
    simple
    simple6
    test
    time
    tls
    tofu6
    vault
}

#[test]
fn every_provider_has_a_folder_a_plugin_and_a_test() {
    let listed: BTreeSet<_> = case::plugins()
        .into_iter()
        .map(|plugin| plugin.name)
        .collect();
    let tested: BTreeSet<_> = TESTED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(listed, tested, "tests/providers/plugins and the tests here");
    let folders = fs::read_dir(case::folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let with_stack = folders.filter(|path| path.join("stack.nix").exists());
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let with_stack: BTreeSet<_> = with_stack.map(name).collect();
    assert_eq!(
        listed, with_stack,
        "tests/providers/plugins and the folders beside it"
    );
}

#[test]
fn the_matrix_is_wide_enough() {
    let cases: Vec<_> = TESTED.iter().map(|name| Case::of(name)).collect();
    let speaking = |protocol| {
        cases
            .iter()
            .filter(|case| case.protocol == protocol)
            .count()
    };
    assert!(cases.len() >= 18, "{} providers", cases.len());
    assert!(speaking(5) >= 12, "{} speak protocol 5", speaking(5));
    assert!(speaking(6) >= 6, "{} speak protocol 6", speaking(6));
    let importing = cases.iter().filter(|case| !case.import.objects.is_empty());
    assert!(
        importing.clone().count() >= 8,
        "{} import",
        importing.count()
    );
    let doing = |does| {
        let does_it = |case: &&Case| case.steps.iter().any(|step| step.does == does);
        cases.iter().filter(does_it).count()
    };
    assert!(doing(Does::Update) >= 8, "{} update", doing(Does::Update));
    assert!(
        doing(Does::Replace) >= 8,
        "{} replace",
        doing(Does::Replace)
    );
}

#[test]
fn the_table_of_providers_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/providers.md");
    let text = fs::read_to_string(&path).unwrap();
    let outcomes: Vec<_> = TESTED.iter().map(|name| outcome(name)).collect();
    let current = table::refreshed(&text, &outcomes);
    if text != current {
        let new = path.with_extension("md.new");
        crate::support::overwrite(&new, current.as_bytes()).unwrap();
        panic!("docs/providers.md is not current; docs/providers.md.new is");
    }
}

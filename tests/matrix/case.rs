//! What a provider's folder in `tests/providers` says: how its plugin is built, and the life its stack is led through.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Objects;

/// The folder of the providers.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers")
}

/// A line of the list `plugins`: a plugin, and what `scripts/setup.sh` builds it from.
#[derive(Clone, Debug)]
pub(super) struct Plugin {
    pub(super) name: String,
    /// Folder of what pins it: a Go module, or below `python` the requirements of a program in Python.
    module: String,
    pub(super) package: String,
}

/// All of the list.
pub(super) fn plugins() -> Vec<Plugin> {
    let text = fs::read_to_string(folder().join("plugins")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(
            |line| match line.split_whitespace().collect::<Vec<_>>()[..] {
                [name, module, package] => Plugin {
                    name: name.to_owned(),
                    module: module.to_owned(),
                    package: package.to_owned(),
                },
                _ => panic!("tests/providers/plugins: {line:?} is not a name, a folder, a package"),
            },
        )
        .collect()
}

impl Plugin {
    /// The one with this name.
    pub(super) fn named(name: &str) -> Self {
        let found = plugins().into_iter().find(|plugin| plugin.name == name);
        found.unwrap_or_else(|| panic!("{name} is not in tests/providers/plugins"))
    }

    /// The program. It is never skipped: a missing one is a failure.
    pub(super) fn program(&self) -> PathBuf {
        let path = folder().join(format!("bin/terraform-provider-{}", self.name));
        assert!(
            path.exists(),
            "{} is missing; run `make setup`",
            path.display()
        );
        path
    }

    /// Whether it is a provider of this repository.
    pub(super) fn is_ours(&self) -> bool {
        self.package.starts_with("./")
    }

    /// The version that is pinned, as the package manager calls it.
    pub(super) fn version(&self) -> String {
        if self.is_ours() {
            return "–".to_owned();
        }
        let (file, separator) = if self.module.starts_with("python/") {
            ("requirements.txt", "==")
        } else {
            ("go.mod", " ")
        };
        let text = fs::read_to_string(folder().join(&self.module).join(file)).unwrap();
        let pinned = text.lines().find_map(|line| {
            let line = line
                .trim_start_matches("require ")
                .trim_end_matches(" // indirect")
                .trim();
            let (module, version) = line.split_once(separator)?;
            let is_it = format!("{}/", self.package).starts_with(&format!("{module}/"));
            is_it.then(|| version.to_owned())
        });
        pinned.unwrap_or_else(|| panic!("{} is not pinned in {}/{file}", self.package, self.module))
    }
}

/// `matrix.json`: the life that a provider's stack is led through.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What the plugin speaks.
    pub(super) protocol: u8,
    /// The server on the loopback interface that the provider talks to.
    pub(super) server: Option<Server>,
    /// What the plugin finds in its environment.
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
    /// `<type>.<attribute>` or `output.<name>`: values that differ from run to run.
    #[serde(default)]
    pub(super) random: Vec<String>,
    /// One apply each.
    pub(super) steps: Vec<Step>,
    /// Taking its objects over.
    #[serde(default)]
    pub(super) import: Import,
}

/// How the objects of a stack are taken over: every type of the provider that the stack has an object of is named here, as one
/// that can be or as one that cannot.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Import {
    /// What is imported, by `<type>.<name>`: the provider's id for the object, with the values of its attributes for `{<attribute>}`.
    #[serde(default)]
    pub(super) objects: BTreeMap<String, String>,
    /// What the provider says when objects are imported that it cannot, by `<type>.<name>`.
    #[serde(default)]
    pub(super) refused: BTreeMap<String, String>,
    /// How many of the imported objects are changed in place by the next apply, since the provider does not read all there is.
    #[serde(default)]
    pub(super) changed: usize,
}

impl Import {
    /// The provider's ids for its objects, as they were remembered.
    pub(super) fn ids(&self, objects: &Objects) -> BTreeMap<String, String> {
        let filled = self.objects.iter().map(|(name, template)| {
            let (_, attributes) = &objects[name];
            let mut id = template.clone();
            for (attribute, value) in attributes.as_object().unwrap() {
                let value = value.as_str().map_or(value.to_string(), str::to_owned);
                id = id.replace(&format!("{{{attribute}}}"), &value);
            }
            (name.clone(), id)
        });
        filled.collect()
    }

    /// What hosts say when an apply takes over and changes these objects.
    pub(super) fn summary(&self) -> String {
        format!("0 added, {} changed, 0 destroyed.", self.changed)
    }

    /// Types of the objects in one of the lists.
    pub(super) fn types(list: &BTreeMap<String, String>) -> BTreeSet<&str> {
        let types = list.keys().map(|name| name.split_once('.').unwrap().0);
        types.collect()
    }
}

/// What a provider talks to.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Server {
    Kubernetes,
    OpenStack,
    Pages,
    Vault,
}

/// An apply and what it does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) does: Does,
    #[serde(default)]
    pub(super) added: usize,
    #[serde(default)]
    pub(super) changed: usize,
    #[serde(default)]
    pub(super) destroyed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Does {
    Create,
    Update,
    Replace,
}

impl Step {
    /// What hosts say at the end of it.
    pub(super) fn summary(&self) -> String {
        format!(
            "{} added, {} changed, {} destroyed.",
            self.added, self.changed, self.destroyed
        )
    }

    /// Whether the numbers are those of something that does this.
    fn is_plausible(&self) -> bool {
        match self.does {
            Does::Create => self.added > 0 && self.destroyed == 0,
            Does::Update => self.changed > 0 && self.destroyed == 0,
            Does::Replace => self.added > 0 && self.added == self.destroyed,
        }
    }
}

impl Case {
    /// The case of a provider.
    pub(super) fn of(name: &str) -> Self {
        let path = folder().join(name).join("matrix.json");
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let case: Self =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for step in &case.steps {
            assert!(step.is_plausible(), "{}: {step:?}", path.display());
        }
        assert!(!case.steps.is_empty(), "{}: no steps", path.display());
        case
    }
}

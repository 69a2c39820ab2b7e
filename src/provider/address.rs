//! The registry address of a provider, as far as its source or the place of its program tells (pure).

use std::path::{Component, Path};

const DEFAULT_HOST: &str = "registry.terraform.io";
const DEFAULT_NAMESPACE: &str = "hashicorp";
const PREFIX: &str = "terraform-provider-";

/// The registry address of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderAddress {
    /// `<host>/<namespace>/<type>`, or a source that has no such form.
    pub text: String,
    /// Whether only the type is certain.
    pub guessed: bool,
}

impl ProviderAddress {
    /// Whether it is certain that this is another provider.
    pub fn is_other_than(&self, other: &Self) -> bool {
        let ty = |address: &Self| address.text.rsplit('/').next().map(str::to_owned);
        if self.guessed || other.guessed {
            ty(self) != ty(other)
        } else {
            self.text != other.text
        }
    }
}

/// The address of the provider with this `source`, whose program is `program` if it was found; `None` if nothing tells it.
///
/// Providers are told this address when they take over an object of another one. A source that is an address is completed with
/// the usual host. Of a path, the folders of a filesystem mirror (`<host>/<namespace>/<type>/<version>/<platform>`) tell it;
/// elsewhere the name of the program is taken for a type of the usual namespace.
pub fn provider_address(source: &str, program: Option<&Path>) -> Option<ProviderAddress> {
    let certain = |text: String| ProviderAddress {
        text,
        guessed: false,
    };
    if source.starts_with(['/', '.', '~']) {
        let found = of_path(program.unwrap_or(Path::new(source)));
        return found.or_else(|| program.map(|p| certain(p.display().to_string())));
    }
    let parts: Vec<&str> = source.split('/').collect();
    Some(certain(match parts[..] {
        [namespace, ty] => format!("{DEFAULT_HOST}/{namespace}/{ty}"),
        _ => source.to_owned(),
    }))
}

fn of_path(path: &Path) -> Option<ProviderAddress> {
    let name = |c| match c {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    let names: Vec<&str> = path.components().filter_map(name).collect();
    let program = names.last()?.strip_prefix(PREFIX)?;
    let ty = program.split(['_', '.']).next().unwrap_or(program);
    let mirrored = names.len().checked_sub(6).map(|start| &names[start..]);
    if let Some([host, namespace, folder, _, _, _]) = mirrored
        && *folder == ty
        && host.contains('.')
    {
        let text = format!("{host}/{namespace}/{ty}");
        let guessed = false;
        return Some(ProviderAddress { text, guessed });
    }
    Some(ProviderAddress {
        text: format!("{DEFAULT_HOST}/{DEFAULT_NAMESPACE}/{ty}"),
        guessed: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let mirror = "/nix/store/x-null/libexec/terraform-providers/registry.example.org/acme/null/3.2.1/linux_amd64/\
                      terraform-provider-null_3.2.1";
        for (source, program, expected) in [
            (
                "hashicorp/null",
                None,
                "registry.terraform.io/hashicorp/null",
            ),
            ("example.org/acme/null", None, "example.org/acme/null"),
            ("builtin", None, "builtin"),
            (
                "/nix/store/x-null",
                Some(mirror),
                "registry.example.org/acme/null",
            ),
            (
                "./terraform-provider-null",
                Some("/here/terraform-provider-null"),
                "registry.terraform.io/hashicorp/null?",
            ),
            (
                "/gone/terraform-provider-null_v1.2.0",
                None,
                "registry.terraform.io/hashicorp/null?",
            ),
            ("./own", Some("/here/own"), "/here/own"),
            ("/gone/folder", None, "none"),
        ] {
            let found = provider_address(source, program.map(Path::new));
            let found = found.map_or("none".to_owned(), |a| {
                a.text + if a.guessed { "?" } else { "" }
            });
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn others() {
        for (one, two, other) in [
            ("acme/null", "acme/null", false),
            ("acme/null", "other/null", true),
            ("/x/terraform-provider-null", "acme/null", false),
            ("/x/terraform-provider-null", "acme/void", true),
        ] {
            let address = |source| provider_address(source, None).unwrap();
            assert_eq!(
                address(one).is_other_than(&address(two)),
                other,
                "{one} {two}"
            );
        }
    }
}

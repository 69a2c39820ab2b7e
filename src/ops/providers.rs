//! The providers of a stack: what it wants of registries, what is locked, what they accept.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, Ir, ProviderDecl};
use crate::json::SchemasDoc;
use crate::plan::providers::source_text;
use crate::provider::Pool;
use crate::registry::{Address, Constraints, InstallError, LockFile, Want, Wants};
use crate::state::State;

/// What the stack wants of each address. Sources that are no addresses, and those that cannot be, are left to whoever
/// starts the provider; a version makes sense for an address only.
pub fn wants(ir: &Ir, default_host: &str) -> Result<BTreeMap<Address, Wants>, Diagnostics> {
    let mut wants: BTreeMap<Address, Wants> = BTreeMap::new();
    let mut problems = Diagnostics::default();
    for (id, decl) in &ir.providers {
        let at = |d: Diagnostic| d.at(format!("provider.{id}"));
        let constraints = match decl.version.as_deref().map(str::parse::<Constraints>) {
            Some(Ok(constraints)) => constraints,
            None => Constraints::default(),
            Some(Err(error)) => {
                let d = Diagnostic::error("Invalid provider version").detail(error.to_string());
                problems.push(at(d.hint(error.hint())));
                continue;
            }
        };
        match address(decl, default_host) {
            Some(Ok(address)) => wants.entry(address).or_default().0.push(Want {
                provider: id.clone(),
                constraints,
            }),
            None if decl.version.is_some() => problems.push(at(versioned_path())),
            Some(Err(())) | None => {}
        }
    }
    problems.into_result().map(|_| wants)
}

fn versioned_path() -> Diagnostic {
    Diagnostic::error("Version without registry")
        .detail(
            "`version` chooses among the versions in a registry, and this provider is not from one",
        )
        .hint("remove `version`, or write a `source` such as \"hashicorp/random\"")
}

/// The address in a declaration; `None` if its source is something else, an error if it is a wrong one.
fn address(decl: &ProviderDecl, default_host: &str) -> Option<Result<Address, ()>> {
    match &decl.source {
        Expr::String(text) if Address::is_meant(text) => {
            Some(Address::parse(text, default_host).map_err(drop))
        }
        _ => None,
    }
}

/// Addresses of providers that only stored objects need.
pub fn stored(state: &State, default_host: &str) -> BTreeSet<Address> {
    let sources = state.resources.values().map(|r| r.provider_source.as_str());
    sources
        .filter(|source| Address::is_meant(source))
        .filter_map(|source| Address::parse(source, default_host).ok())
        .collect()
}

/// A provider of a stack, for `nivis providers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its source, with the host if it is an address.
    pub source: String,
    /// The version constraint, as declared.
    pub wanted: Option<String>,
    /// The locked version; `None` if it is not locked, or needs no lock.
    pub locked: Option<String>,
    /// Whether it is from a registry.
    pub from_registry: bool,
}

/// The providers that a stack declares, and what is locked of them.
pub fn list(ir: &Ir, lock_file: &LockFile, default_host: &str) -> Vec<Listed> {
    let providers = ir.providers.iter().map(|(id, decl)| {
        let address = address(decl, default_host).and_then(Result::ok);
        let locked = address.as_ref().and_then(|a| lock_file.providers.get(a));
        Listed {
            id: id.clone(),
            source: match &address {
                Some(address) => address.to_string(),
                None => source_text(id, &decl.source).unwrap_or_default(),
            },
            wanted: decl.version.as_deref().map(str::to_owned),
            locked: locked.map(|locked| locked.version.to_string()),
            from_registry: address.is_some(),
        }
    });
    providers.collect()
}

/// The schemas of all providers that a stack declares.
pub async fn schemas(ir: &Ir, pool: &Pool, default_host: &str) -> Result<SchemasDoc, Diagnostics> {
    let mut schemas = Vec::new();
    let mut problems = Diagnostics::default();
    let asked = ir.providers.iter().map(async |(id, decl)| {
        let source = source_text(id, &decl.source)?;
        let schema = pool.schema(id, &source).await?;
        Ok::<_, Diagnostics>((source, schema))
    });
    let found = join_all(asked).await;
    for ((id, decl), found) in ir.providers.iter().zip(found) {
        let at = format!("provider.{id}");
        match found {
            Ok((source, schema)) => {
                let address = address(decl, default_host).and_then(Result::ok);
                schemas.push((address.map_or(source, |a| a.to_string()), schema));
            }
            Err(found) => problems.extend_at(found, &at),
        }
    }
    problems.into_result()?;
    Ok(SchemasDoc::new(
        schemas
            .iter()
            .map(|(source, schema)| (source.clone(), &**schema)),
    ))
}

/// What a person is told when a provider could not be installed.
pub fn problem(error: &InstallError) -> Diagnostic {
    Diagnostic {
        hint: error.hint(),
        ..Diagnostic::error("Cannot install provider").detail(error.to_string())
    }
}

impl From<InstallError> for Diagnostics {
    fn from(error: InstallError) -> Self {
        problem(&error).into()
    }
}

/// The list as text: one line for each provider.
pub fn table(listed: &[Listed]) -> String {
    let rows = listed.iter().map(|provider| {
        let locked = match (&provider.locked, provider.from_registry) {
            (Some(version), _) => format!("locked to {version}"),
            (None, true) => "not locked".to_owned(),
            (None, false) => String::new(),
        };
        let wanted = provider.wanted.clone().unwrap_or_default();
        [provider.id.clone(), provider.source.clone(), wanted, locked]
    });
    let rows: Vec<[String; 4]> = rows.collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..4).map(|column| width(column).unwrap_or(0)).collect();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ir(providers: &[(&str, &str, Option<&str>)]) -> Ir {
        let declared = providers.iter().map(|(id, source, version)| {
            let decl = ProviderDecl {
                source: Expr::String((*source).into()),
                version: version.map(Into::into),
                meta: None,
                config: Expr::Object(BTreeMap::new()),
            };
            ((*id).to_owned(), decl)
        });
        Ir {
            providers: declared.collect(),
            ..Ir::default()
        }
    }

    #[test]
    fn providers_with_one_address_want_together() {
        let ir = ir(&[
            ("a", "hashicorp/random", Some("~> 3.6")),
            ("b", "example.org/hashicorp/random", None),
            ("c", "./random", None),
            ("d", "not-an-address", None),
        ]);
        let wants = wants(&ir, "example.org").unwrap();
        let shown: Vec<String> = wants.iter().map(|(a, w)| format!("{a}: {w}")).collect();
        assert_eq!(
            shown,
            ["example.org/hashicorp/random: `~> 3.6` (provider.a) and `any release` (provider.b)"]
        );
    }

    #[test]
    fn wrong_versions_are_addressed() {
        let ir = ir(&[
            ("a", "hashicorp/random", Some("^3")),
            ("b", "/opt/provider", Some("~> 1.0")),
            ("c", "builtin", Some("1.0.0")),
        ]);
        let problems = wants(&ir, "example.org").unwrap_err().0;
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 3);
        assert!(
            shown[0].starts_with("provider.a: Invalid provider version: version constraint \"^3\"")
        );
        assert!(shown[1].starts_with("provider.b: Version without registry"));
        assert!(problems.iter().all(|d| d.hint.is_some()));
    }

    #[test]
    fn the_table_has_columns() {
        let ir = ir(&[
            ("a", "hashicorp/random", Some("~> 3.6")),
            ("long", "builtin", None),
        ]);
        let text = table(&list(&ir, &LockFile::default(), "example.org"));
        assert_eq!(
            text,
            "a     example.org/hashicorp/random  ~> 3.6  not locked\nlong  builtin\n"
        );
    }
}

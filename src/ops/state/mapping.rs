//! Which declared resource an address of Terraform means (pure).

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, Ir, Resource};
use crate::provider::provider_address;
use crate::state::tfstate::{Address, Key, Keyed, ProviderRef};

/// What a mapping file says: ids of addresses, or that something is to be left out.
///
/// An address with an instance key means that instance, one without all of them; a module can only be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapFile(BTreeMap<Address, Option<Id>>);

impl MapFile {
    /// Reads a JSON object of ids by address; `null` leaves out. Gives all mistakes at once.
    pub fn read(bytes: &[u8]) -> Result<Self, Diagnostics> {
        let wrong = |detail: String| {
            Diagnostic::error("Invalid mapping file")
                .detail(detail)
                .hint("write a JSON object such as {\"module.net.aws_vpc.main\": \"aws.aws_vpc.net\", \"module.old\": null}")
        };
        let entries: BTreeMap<String, Option<String>> =
            serde_json::from_slice(bytes).map_err(|e| Diagnostics::from(wrong(e.to_string())))?;
        let mut map = BTreeMap::new();
        let mut problems = Diagnostics::default();
        for (text, id) in entries {
            match Address::parse(&text) {
                Some(address) if address.resource.is_none() && id.is_some() => problems.push(
                    wrong(format!("`{text}` is a module, which can only be left out")),
                ),
                Some(address) => drop(map.insert(address, id.map(Id::from))),
                None => problems.push(wrong(format!("`{text}` is no address"))),
            }
        }
        problems.into_result().map(|_| Self(map))
    }

    /// The address that an id has, if the file says so.
    pub fn address_of(&self, id: &Id, base: &str, key: Option<&Key>) -> Option<Address> {
        let of = |wanted: &str| {
            let mut entries = self.0.iter();
            entries.find(|(_, id)| id.as_ref().is_some_and(|id| id.as_str() == wanted))
        };
        if let Some((address, _)) = of(id.as_str()) {
            return Some(address.clone());
        }
        let (mut address, _) = of(base).map(|(address, id)| (address.clone(), id))?;
        if let Some((_, name)) = &mut address.resource {
            name.key = key.cloned();
        }
        Some(address)
    }
}

/// The name of a resource without its key, and the key.
pub(super) fn base_name<'a>(name: &'a str, key: Option<&Key>) -> &'a str {
    match (key, name.rsplit_once("__")) {
        (Some(_), Some((base, _))) => base,
        _ => name,
    }
}

/// Finds declared resources by address.
pub(super) struct Mapping<'a> {
    ir: &'a Ir,
    file: &'a MapFile,
    /// Entries of the file that meant something.
    used: BTreeSet<&'a Address>,
    /// Declared resources by type, name without key, and key.
    by_name: BTreeMap<(&'a str, &'a str, Option<Key>), Vec<&'a Resource>>,
}

impl<'a> Mapping<'a> {
    pub(super) fn new(ir: &'a Ir, file: &'a MapFile) -> Self {
        let mut by_name: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for resource in &ir.resources {
            let key = resource.meta.index.as_ref().map(Key::from);
            let base = base_name(&resource.name, key.as_ref());
            let names = (resource.ty.as_str(), base, key);
            by_name.entry(names).or_default().push(resource);
        }
        Self {
            ir,
            file,
            used: BTreeSet::new(),
            by_name,
        }
    }

    /// The resource that an instance is to be an instance of; `None` if it is to be left out.
    pub(super) fn find(
        &mut self,
        instance: &Address,
        provider: &ProviderRef,
    ) -> Result<Option<&'a Resource>, Diagnostics> {
        let whole = instance.without_key();
        let exact = self.file.0.get_key_value(instance);
        let entry = exact
            .or_else(|| self.file.0.get_key_value(&whole))
            .or_else(|| self.file.0.iter().find(|(entry, _)| instance.is_in(entry)));
        let Some((address, id)) = entry else {
            return self.by_rule(instance, provider).map(Some);
        };
        self.used.insert(address);
        let Some(id) = id else { return Ok(None) };
        let key = instance.key().filter(|_| exact.is_none());
        let meant = |resource: &&Resource| match key {
            None => resource.id == *id,
            Some(key) => {
                resource.meta.index.as_ref().map(Key::from).as_ref() == Some(key)
                    && resource
                        .id
                        .instance()
                        .is_some_and(|(base, _)| base == id.as_str())
            }
        };
        let ty = instance.resource.as_ref().map(|(ty, _)| ty.as_str());
        match self.ir.resources.iter().find(meant) {
            Some(resource) if ty == Some(&*resource.ty) => Ok(Some(resource)),
            Some(resource) => Err(Diagnostic::error("Mapped to another type")
                .detail(format!("`{}` is a `{}`", resource.id, resource.ty))
                .hint("declare the object with the type that it has; `moved` can change the type afterwards")
                .at(instance.to_string())
                .into()),
            None => Err(Diagnostic::error("Mapped to nothing")
                .detail(match key {
                    None => format!("the configuration has no resource `{id}`"),
                    Some(key) => format!("the configuration has no instance {key} of `{id}`"),
                })
                .suggest(id.as_str(), self.ir.resources.iter().map(|r| r.id.as_str()))
                .at(instance.to_string())
                .into()),
        }
    }

    /// Entries of the file that meant nothing.
    pub(super) fn unused(&self, addresses: &[String]) -> Diagnostics {
        let unused = self.file.0.keys().filter(|key| !self.used.contains(key));
        let problem = |address: &Address| {
            Diagnostic::error("Mapping of nothing")
                .detail("the mapping file names an address that the state does not have")
                .suggest(&address.to_string(), addresses.iter().map(String::as_str))
                .at(address.to_string())
        };
        Diagnostics(unused.map(problem).collect())
    }

    /// By type, name and key; modules are part of the name.
    fn by_rule(
        &self,
        instance: &Address,
        provider: &ProviderRef,
    ) -> Result<&'a Resource, Diagnostics> {
        let Some((ty, name)) = &instance.resource else {
            return Err(Diagnostic::error("No address of a resource")
                .at(instance.to_string())
                .into());
        };
        let names = names(&instance.modules, name);
        let mut found: Vec<&Resource> = Vec::new();
        for name in &names {
            let key = (ty.as_str(), name.as_str(), instance.key().cloned());
            found.extend(self.by_name.get(&key).into_iter().flatten().copied());
        }
        let (fitting, others): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|resource| self.is_from(&resource.provider, provider));
        let called: Vec<&Resource> = fitting
            .iter()
            .copied()
            .filter(|resource| is_called(&resource.provider, provider))
            .collect();
        match (&fitting[..], &called[..]) {
            ([resource], _) | (_, [resource]) => Ok(resource),
            ([], _) => {
                let other = others.first().copied();
                Err(self
                    .nothing(instance, provider, (ty, &names[0]), other)
                    .into())
            }
            _ => {
                let ids: Vec<String> = fitting.iter().map(|r| format!("`{}`", r.id)).collect();
                Err(Diagnostic::error("Address with several resources")
                    .detail(format!("it may be any of {}", ids.join(", ")))
                    .hint("say in a mapping file (--map) which of them it is")
                    .at(instance.to_string())
                    .into())
            }
        }
    }

    fn nothing(
        &self,
        instance: &Address,
        provider: &ProviderRef,
        (ty, name): (&str, &str),
        other: Option<&Resource>,
    ) -> Diagnostic {
        let problem = Diagnostic::error("Address without a resource").at(instance.to_string());
        if let Some(other) = other {
            return problem
                .detail(format!(
                    "`{}` has the same name, and a provider that is not {}",
                    other.id, provider.source
                ))
                .hint("give it the provider that the object was made with");
        }
        let key = instance.key().map(|key| match key {
            Key::Number(n) => format!("__{n}"),
            Key::Text(key) => format!("__{key}"),
        });
        let wanted = format!("{}.{ty}.{name}{}", provider.ty(), key.unwrap_or_default());
        let instances = |resource: &&Resource| resource.ty == ty;
        let same_type = self.ir.resources.iter().filter(instances);
        problem
            .detail(format!("the configuration has no `{ty}` with the name `{name}` and this key"))
            .hint("declare it, or say in a mapping file (--map) which id it has, or `null` to leave it out")
            .suggest(&wanted, same_type.map(|r| r.id.as_str()))
    }

    /// Whether a declared provider may be the one that an object was made with: its type is the same, as far as one can tell.
    fn is_from(&self, id: &str, provider: &ProviderRef) -> bool {
        let source = self.ir.providers.get(id).map(|decl| &decl.source);
        let Some(Expr::String(source)) = source else {
            return true;
        };
        let address = provider_address(source, None).filter(|address| !address.guessed);
        address.is_none_or(|address| {
            source.starts_with(['/', '.', '~'])
                || address.text.rsplit('/').next() == Some(provider.ty())
        })
    }
}

/// What a resource in modules may be called: the names and keys of the modules in front, joined by `_` or by `-`.
fn names(modules: &[Keyed], name: &Keyed) -> Vec<String> {
    let key = |key: &Key| match key {
        Key::Number(n) => n.to_string(),
        Key::Text(key) => key.clone(),
    };
    let mut parts = Vec::new();
    for module in modules {
        parts.push(module.name.clone());
        parts.extend(module.key.as_ref().map(key));
    }
    parts.push(name.name.clone());
    let mut names = vec![parts.join("_")];
    if parts.len() > 1 {
        names.push(parts.join("-"));
    }
    names
}

/// Whether a provider id is what one would call this configuration of a provider.
fn is_called(id: &str, provider: &ProviderRef) -> bool {
    let ty = provider.ty();
    match (&provider.alias, &provider.key) {
        (None, _) => id == ty,
        (Some(alias), key) => {
            let own = match key {
                Some(key) => format!("{alias}_{key}"),
                None => alias.clone(),
            };
            let own = [own.replace('_', "-"), own];
            own.iter().any(|own| {
                id == own
                    || ["_", "-", "."]
                        .iter()
                        .any(|by| id == format!("{ty}{by}{own}"))
            })
        }
    }
}

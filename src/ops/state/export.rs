//! Handing a state over to Terraform or OpenTofu.

use std::collections::BTreeMap;

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ops::state::mapping::{MapFile, base_name};
use crate::state::tfstate::{
    self, Address, Key, Keyed, ProviderRef, TfInstance, TfResource, TfState,
};
use crate::state::{Object, ResourceState, State};

/// What [`export_tfstate`] needs.
#[derive(Clone, Copy)]
pub struct TfExport<'a> {
    /// The state to hand over.
    pub state: &'a State,
    /// Addresses of ids that are to have others than their own names say: the same file that an import takes.
    pub map: &'a MapFile,
    /// Provider configurations by provider id.
    pub providers: &'a BTreeMap<String, ProviderRef>,
}

/// The state in the format of Terraform and OpenTofu. Gives all problems at once.
pub fn export_tfstate(input: TfExport<'_>) -> Result<Vec<u8>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut addresses: BTreeMap<&Id, Address> = BTreeMap::new();
    for (id, stored) in &input.state.resources {
        match address(id, stored, input.map) {
            Ok(address) => drop(addresses.insert(id, address)),
            Err(problem) => problems.extend(problem),
        }
    }
    let mut resources: BTreeMap<Address, (TfResource, &Id)> = BTreeMap::new();
    for (id, stored) in &input.state.resources {
        let (Some(address), Some(provider)) =
            (addresses.get(id), input.providers.get(&stored.provider))
        else {
            continue;
        };
        let whole = address.without_key();
        let (resource, first) = resources.entry(whole.clone()).or_insert_with(|| {
            let resource = TfResource {
                address: whole,
                provider: provider.clone(),
                instances: Vec::new(),
            };
            (resource, id)
        });
        let taken = resource
            .instances
            .iter()
            .any(|i| i.key.as_ref() == address.key());
        if taken || resource.provider != *provider {
            problems.push(
                Diagnostic::error("Two resources with one address")
                    .detail(format!("it would be {address}, as `{first}`"))
                    .hint("give one of them another address in a mapping file (--map)")
                    .at(id.as_str()),
            );
        }
        resource
            .instances
            .extend(instances(stored, address.key(), &addresses));
    }
    problems.into_result()?;
    let written = tfstate::write(&TfState {
        serial: input.state.serial,
        lineage: input.state.lineage.clone(),
        outputs: input.state.outputs.clone(),
        resources: resources.into_values().map(|(r, _)| r).collect(),
        ..TfState::default()
    });
    written.map_err(|e| {
        let d = Diagnostic::error("Cannot write the state");
        d.detail(format!("something in it is not JSON: {e}")).into()
    })
}

/// The provider configurations that the objects of a state were made with: `given` by provider id, the others from where
/// the provider comes from, as `address` tells it for an id and a source.
///
/// Of several ids with one provider the one that is called as the provider's type is the default configuration, and the
/// others are aliases.
pub fn provider_refs(
    state: &State,
    given: &BTreeMap<String, ProviderRef>,
    address: &dyn Fn(&str, &str) -> Option<String>,
) -> Result<BTreeMap<String, ProviderRef>, Diagnostics> {
    let stored = state.resources.values();
    let used: BTreeMap<&str, &str> = stored
        .map(|stored| (&*stored.provider, &*stored.provider_source))
        .filter(|(id, _)| !given.contains_key(*id))
        .collect();
    let mut sources: BTreeMap<&str, String> = BTreeMap::new();
    let mut problems = Diagnostics::default();
    for (id, source) in used {
        match address(id, source) {
            Some(found) if found.split('/').count() == 3 && !found.starts_with('/') => {
                sources.insert(id, found);
            }
            _ => problems.push(
                Diagnostic::error("Provider without an address")
                    .detail(format!("nothing tells the address of {source:?}"))
                    .hint(format!(
                        "say it: `--provider {id}=<host>/<namespace>/<type>`"
                    ))
                    .at(format!("provider.{id}")),
            ),
        }
    }
    problems.into_result()?;
    let mut refs = given.clone();
    for (id, source) in &sources {
        let alone = sources.values().filter(|other| *other == source).count() == 1;
        let is_default = alone || source.rsplit('/').next() == Some(*id);
        let provider = ProviderRef {
            source: source.clone(),
            alias: (!is_default).then(|| (*id).to_owned()),
            key: None,
        };
        refs.insert((*id).to_owned(), provider);
    }
    Ok(refs)
}

/// The address of an instance.
fn address(id: &Id, stored: &ResourceState, map: &MapFile) -> Result<Address, Diagnostics> {
    let key = stored.index.as_ref().map(Key::from);
    let base = base_name(&stored.name, key.as_ref());
    let base_id = format!("{}.{}.{base}", stored.provider, stored.ty);
    if let Some(address) = map.address_of(id, &base_id, key.as_ref()) {
        return Ok(address);
    }
    let mut characters = base.chars();
    let first = characters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && characters.all(|c| c.is_alphanumeric() || "_-".contains(c)) {
        let name = base.to_owned();
        return Ok(Address {
            resource: Some((stored.ty.clone(), Keyed { name, key })),
            ..Address::default()
        });
    }
    Err(Diagnostic::error("Name that Terraform cannot have")
        .detail(format!(
            "{base:?} is not made of letters, digits, `_` and `-`, or begins wrongly"
        ))
        .hint("give it another address in a mapping file (--map)")
        .at(id.as_str())
        .into())
}

fn instances<'a>(
    stored: &'a ResourceState,
    key: Option<&'a Key>,
    addresses: &'a BTreeMap<&Id, Address>,
) -> impl Iterator<Item = TfInstance> {
    let instance = move |(deposed, object): (Option<&String>, &Object)| {
        let on = object
            .dependencies
            .iter()
            .filter_map(|on| addresses.get(on));
        let mut on: Vec<String> = on.map(|on| on.without_key().to_string()).collect();
        on.sort();
        on.dedup();
        TfInstance {
            key: key.cloned(),
            deposed: deposed.cloned(),
            object: object.clone(),
            dependencies: on,
        }
    };
    let current = stored.current.iter().map(|object| (None, object));
    let deposed = stored
        .deposed
        .iter()
        .map(|(key, object)| (Some(key), object));
    current.chain(deposed).map(instance)
}

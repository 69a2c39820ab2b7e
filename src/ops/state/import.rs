//! Taking over a state of Terraform or OpenTofu.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Dependencies, Ir, Resource};
use crate::ops::state::mapping::{MapFile, Mapping};
use crate::plan::outputs::output_name;
use crate::plan::providers::source_text;
use crate::plan::rename;
use crate::state::tfstate::{Address, TfInstance, TfState};
use crate::state::{OutputValue, Record, ResourceState, Session, State};

/// What [`import_tfstate`] needs.
#[derive(Clone, Copy)]
pub struct TfImport<'a> {
    /// The state to take over.
    pub tfstate: &'a TfState,
    /// Ids of addresses that do not say them themselves.
    pub map: &'a MapFile,
    /// The configuration that is to manage the objects.
    pub ir: &'a Ir,
    /// Whether the stack may have a state already, of other resources.
    pub merge: bool,
}

/// What was taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TfImported {
    /// What each address is from now on.
    pub resources: Vec<(String, Id)>,
    /// What was not, and why, one line each.
    pub notes: Vec<String>,
}

/// Records the objects of another host's state as those of declared resources. No provider is asked. Gives all problems at
/// once, and changes nothing if there is one.
///
/// A new stack gets serial and lineage of the other state too, so that it can go back as a later version of it.
pub fn import_tfstate(
    input: TfImport<'_>,
    session: &mut Session,
) -> Result<TfImported, Diagnostics> {
    let (after, imported) = prepare_import(input, session.state())?;
    if is_new(session.state()) && !input.tfstate.lineage.is_empty() {
        session.replace(after, false)?;
    } else {
        let mut records = rename::differences(session.state(), &after);
        records.push(Record::Outputs(after.outputs));
        session.append(records)?;
    }
    Ok(imported)
}

fn is_new(state: &State) -> bool {
    state.serial == 0 && state.resources.is_empty()
}

/// The state as [`import_tfstate`] would make it of `before`.
pub fn prepare_import(
    input: TfImport<'_>,
    before: &State,
) -> Result<(State, TfImported), Diagnostics> {
    if !input.merge && !before.resources.is_empty() {
        return Err(Diagnostic::error("Stack has a state already")
            .detail(format!("it has {} resources", before.resources.len()))
            .hint("with `--merge` the objects are added, as long as they are of other resources")
            .into());
    }
    let mut imported = TfImported::default();
    let found = find(input, &mut imported.notes)?;
    let resources = records(input, &found)?;
    let mut problems = Diagnostics::default();
    for id in resources
        .keys()
        .filter(|id| before.resources.contains_key(*id))
    {
        problems.push(
            Diagnostic::error("Resource is managed already")
                .detail("the state has an object for it")
                .at(id.as_str()),
        );
    }
    problems.into_result()?;
    let mut after = before.clone();
    if is_new(before) {
        after.serial = input.tfstate.serial.max(1);
        after.lineage.clone_from(&input.tfstate.lineage);
    }
    let names = found
        .iter()
        .map(|one| (one.address.to_string(), one.resource.id.clone()));
    imported.resources = names.collect();
    after.resources.extend(resources);
    after.outputs.extend(outputs(input, &mut imported.notes));
    imported.notes.extend(remarks(input, &after));
    Ok((after, imported))
}

/// One object and the resource it is to be of.
struct Found<'a> {
    address: Address,
    resource: &'a Resource,
    instance: &'a TfInstance,
}

/// What every managed object is to be.
fn find<'a>(input: TfImport<'a>, notes: &mut Vec<String>) -> Result<Vec<Found<'a>>, Diagnostics> {
    let mut mapping = Mapping::new(input.ir, input.map);
    let mut found = Vec::new();
    let mut problems = Diagnostics::default();
    let mut addresses = Vec::new();
    for resource in &input.tfstate.resources {
        if resource.address.data {
            notes.push(format!(
                "{} is a data source: it is read again",
                resource.address
            ));
            continue;
        }
        for instance in &resource.instances {
            let address = resource.instance(instance.key.as_ref());
            addresses.push(address.to_string());
            match mapping.find(&address, &resource.provider) {
                Ok(Some(resource)) => found.push(Found {
                    address,
                    resource,
                    instance,
                }),
                Ok(None) => notes.push(format!("{address} is left out, as the mapping file says")),
                Err(problem) => problems.extend(problem),
            }
        }
    }
    problems.extend(mapping.unused(&addresses));
    problems.into_result().map(|_| found)
}

/// The records of all objects that were found.
fn records(
    input: TfImport<'_>,
    found: &[Found<'_>],
) -> Result<BTreeMap<Id, ResourceState>, Diagnostics> {
    let dependencies = Depends::new(input, found);
    let mut records: BTreeMap<Id, ResourceState> = BTreeMap::new();
    let mut problems = Diagnostics::default();
    for one in found {
        let Resource { id, provider, .. } = one.resource;
        let Some(decl) = input.ir.providers.get(provider) else {
            continue;
        };
        let record = records.entry(id.clone()).or_insert_with(|| ResourceState {
            provider: provider.clone(),
            ty: one.resource.ty.clone(),
            name: one.resource.name.clone(),
            index: one.resource.meta.index.clone(),
            ..ResourceState::default()
        });
        record.provider_source = source_text(provider, &decl.source)?;
        let mut object = one.instance.object.clone();
        object.dependencies = dependencies.of(one);
        let twice = match &one.instance.deposed {
            Some(key) => record.deposed.insert(key.clone(), object).is_some(),
            None => record.current.replace(object).is_some(),
        };
        if twice {
            problems.push(
                Diagnostic::error("Two objects for one resource")
                    .detail(format!("`{id}` is what another address means too"))
                    .hint("say in a mapping file (--map) which id each of them has")
                    .at(one.address.to_string()),
            );
        }
    }
    problems.into_result().map(|_| records)
}

/// What objects depend on: here directly, in the other state with all that follows from it.
struct Depends<'a> {
    declared: Dependencies,
    resources: BTreeSet<&'a Id>,
    /// Ids of the instances of each resource.
    ids: BTreeMap<Address, BTreeSet<&'a Id>>,
    /// What each resource depends on.
    listed: BTreeMap<Address, BTreeSet<Address>>,
}

impl<'a> Depends<'a> {
    fn new(input: TfImport<'a>, found: &[Found<'a>]) -> Self {
        let mut ids: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        let mut listed: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for one in found {
            let address = one.address.without_key();
            ids.entry(address.clone())
                .or_default()
                .insert(&one.resource.id);
            listed
                .entry(address)
                .or_default()
                .extend(addresses(one.instance));
        }
        Self {
            declared: Dependencies::of(input.ir),
            resources: input.ir.resources.iter().map(|r| &r.id).collect(),
            ids,
            listed,
        }
    }

    /// What the configuration says, and of what the state says that which does not follow from resources that it depends on.
    fn of(&self, one: &Found<'_>) -> Vec<Id> {
        let Resource { id, provider, .. } = one.resource;
        let mut all: BTreeSet<Id> = self.declared.objects(id, provider).into_iter().collect();
        // Nothing is stored of what a data source depends on, so that nothing follows from one.
        let managed = all.iter().filter(|on| self.resources.contains(on));
        let nodes: Vec<_> = managed
            .filter_map(|on| self.declared.node(on.as_str()))
            .collect();
        let dag = self.declared.dag();
        let behind = dag.ancestors(nodes).into_iter().map(|n| dag[n].clone());
        let implied: BTreeSet<Id> = behind.chain(all.iter().cloned()).collect();
        let listed: BTreeSet<Address> = addresses(one.instance).collect();
        for address in &listed {
            let Some(ids) = self.ids.get(address) else {
                continue;
            };
            let follows = |other: &Address| {
                other != address && self.listed.get(other).is_some_and(|l| l.contains(address))
            };
            if !ids.iter().any(|id| implied.contains(*id)) && !listed.iter().any(follows) {
                all.extend(ids.iter().map(|id| (*id).clone()));
            }
        }
        all.remove(id);
        all.into_iter().collect()
    }
}

/// Resources that an object depends on.
fn addresses(instance: &TfInstance) -> impl Iterator<Item = Address> {
    let listed = instance.dependencies.iter();
    listed.filter_map(|text| Some(Address::parse(text)?.without_key()))
}

/// Outputs that the configuration has too. Their types are kept where the values do not tell them.
fn outputs(input: TfImport<'_>, notes: &mut Vec<String>) -> BTreeMap<String, OutputValue> {
    let declared: BTreeMap<&str, bool> = (input.ir.consumers.iter())
        .filter_map(|consumer| Some((output_name(&consumer.id)?, consumer.sensitive)))
        .collect();
    let mut outputs = BTreeMap::new();
    for (name, value) in &input.tfstate.outputs {
        match declared.get(name.as_str()) {
            Some(sensitive) => {
                let mut value = value.clone();
                value.sensitive |= sensitive;
                outputs.insert(name.clone(), value);
            }
            None => notes.push(format!(
                "the output `{name}` is not declared: it is left out"
            )),
        }
    }
    outputs
}

/// What else a person should know.
fn remarks(input: TfImport<'_>, after: &State) -> Vec<String> {
    let mut notes = Vec::new();
    if !input.tfstate.unknown.is_empty() {
        let names: Vec<&str> = input.tfstate.unknown.iter().map(String::as_str).collect();
        notes.push(format!(
            "members that are not known here are left out: {}",
            names.join(", ")
        ));
    }
    let missing = |resource: &&Resource| !after.resources.contains_key(&resource.id);
    match input.ir.resources.iter().filter(missing).count() {
        0 => {}
        1 => notes.push("1 declared resource has no object: the next apply creates it".to_owned()),
        n => notes.push(format!(
            "{n} declared resources have no object: the next apply creates them"
        )),
    }
    notes
}

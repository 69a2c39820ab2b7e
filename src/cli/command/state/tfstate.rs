//! `nivis state import-tfstate` and `export-tfstate`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use super::read_file;
use crate::cli::args::{LockArgs, StackArgs};
use crate::cli::ui::Ui;
use crate::cli::{env, report, stack};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fs::{self, PRIVATE};
use crate::ops;
use crate::ops::stack::Store;
use crate::ops::state::{MapFile, TfExport, TfImport};
use crate::state::tfstate::{self, ProviderRef};

/// Take a state of Terraform or OpenTofu over: record its objects as those of declared resources.
///
/// No provider is asked; the next plan compares the objects with the configuration.
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    /// The state: a `terraform.tfstate`, or what `terraform state pull` or `tofu state pull` prints.
    tfstate: PathBuf,

    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    lock: LockArgs,

    /// Ids of addresses that do not say them themselves: a JSON object of ids by address, `null` for what is to be left out.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Add to the state that the stack has already.
    #[arg(long)]
    merge: bool,

    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
}

/// Print the state as one of Terraform and OpenTofu. Sensitive values are in it.
#[derive(Debug, clap::Args)]
pub(super) struct Export {
    #[command(flatten)]
    stack: StackArgs,

    /// Addresses of ids that are to have others than their names say: the same file that `import-tfstate` takes.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// The address of a provider, where nothing else tells it: `random=registry.terraform.io/hashicorp/random`, or a
    /// configuration, as states name it: `west=provider["registry.terraform.io/hashicorp/aws"].west`.
    #[arg(long, value_name = "ID=ADDRESS")]
    provider: Vec<Named>,

    /// Write to this file, which only its owner can read, instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A provider id and the configuration it stands for.
#[derive(Clone, Debug)]
struct Named(String, ProviderRef);

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, address) = text.split_once('=').ok_or("there is no `=` in it")?;
        if let Some(provider) = ProviderRef::parse(address) {
            return Ok(Self(id.to_owned(), provider));
        }
        if address.split('/').filter(|part| !part.is_empty()).count() != 3 {
            return Err("write the address as <host>/<namespace>/<type>".to_owned());
        }
        let provider = ProviderRef {
            source: address.to_owned(),
            alias: None,
            key: None,
        };
        Ok(Self(id.to_owned(), provider))
    }
}

pub(super) fn import(import: &Import, ui: Ui) -> Result<(), Diagnostics> {
    let file = import.tfstate.display();
    let state = tfstate::read(&read_file(&import.tfstate)?).map_err(|e| {
        Diagnostic::error("Cannot read the state of Terraform")
            .detail(format!("{file}: {e}"))
            .hint(e.hint())
    })?;
    let map = map_file(import.map.as_ref())?;
    let stack = stack::stack(&import.stack)?;
    let timeout = std::time::Duration::from_secs(import.lock.lock_timeout);
    let mut session = stack.open("state import-tfstate", &env::who(), timeout)?;
    report::show(ui, session.recovered().into());
    let phases = stack.phases(session.state(), Store::Read)?;
    let input = TfImport {
        tfstate: &state,
        map: &map,
        ir: phases.ir(),
        merge: import.merge,
    };
    let imported = if import.dry_run {
        ops::state::prepare_import(input, session.state()).map(|(_, imported)| imported)
    } else {
        ops::state::import_tfstate(input, &mut session)
    };
    session.close()?;
    let imported = imported?;
    for note in &imported.notes {
        ui.err(&format!("note: {note}\n"));
    }
    for (address, id) in &imported.resources {
        ui.out(&format!("{address} is {id}\n"));
    }
    let count = imported.resources.len();
    ui.err(&if import.dry_run {
        format!("{count} objects would be taken over; nothing was changed.\n")
    } else {
        format!(
            "{count} objects are taken over: `nivis plan` compares them with the configuration.\n"
        )
    });
    Ok(())
}

pub(super) fn export(export: &Export, ui: Ui) -> Result<(), Diagnostics> {
    let stack = stack::stack(&export.stack)?;
    let state = stack.read_state()?;
    let pool = stack::pool(&stack)?;
    let given = export.provider.iter().cloned();
    let given: BTreeMap<_, _> = given.map(|Named(id, provider)| (id, provider)).collect();
    let address = |id: &str, source: &str| pool.address(id, source).map(|found| found.text);
    let text = ops::state::export_tfstate(TfExport {
        state: &state,
        map: &map_file(export.map.as_ref())?,
        providers: &ops::state::provider_refs(&state, &given, &address)?,
    })?;
    let Some(path) = &export.out else {
        ui.out(&String::from_utf8_lossy(&text));
        return Ok(());
    };
    fs::atomic_write(path, &text, PRIVATE)
        .map_err(|e| Diagnostic::error("Cannot write the state").detail(e.to_string()))?;
    Ok(())
}

fn map_file(path: Option<&PathBuf>) -> Result<MapFile, Diagnostics> {
    match path {
        None => Ok(MapFile::default()),
        Some(path) => MapFile::read(&read_file(path)?),
    }
}

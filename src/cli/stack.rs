//! From arguments to an open stack.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::args::StackArgs;
use crate::cli::env;
use crate::cli::ui::Ui;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fs::PrivateDir;
use crate::nix::{Nix, NixOptions, Target};
use crate::ops::builds::Builder;
use crate::ops::stack::Stack;
use crate::provider::{Places, Pool};
use crate::state::Local;

/// Folder of local states in the working folder.
const STATE_FOLDER: &str = ".nivis";

/// The stack that the arguments name.
pub(super) fn stack(args: &StackArgs) -> Result<Stack, Diagnostics> {
    let working = working()?;
    let run_folders = env::run_folders();
    let scratch = PrivateDir::new(&run_folders)
        .map_err(|e| Diagnostic::error("Cannot make a private folder").detail(e.to_string()))?;
    let target = match &args.file {
        Some(file) => Target::file(file, args.attr.as_deref(), &working),
        None => Target::flake(&args.installable, &working, scratch.path()),
    }?;
    let nix = Nix::find(
        None,
        NixOptions {
            show_trace: args.show_trace,
            settings: pairs(&args.option),
            override_inputs: pairs(&args.override_input),
        },
    )?;
    let backend = Local::new(&working.join(STATE_FOLDER).join(stack_name(args, &target)));
    Ok(Stack {
        target,
        nix,
        backend,
        run_folders,
        scratch,
        messages: |line| Ui::new(true).err(&format!("{line}\n")),
    })
}

fn working() -> Result<PathBuf, Diagnostics> {
    std::env::current_dir().map_err(|e| {
        Diagnostic::error("Cannot tell the working folder")
            .detail(e.to_string())
            .into()
    })
}

/// What the stack's state is called: the file's name without `.nix`, or the names behind `#`.
fn stack_name(args: &StackArgs, target: &Target) -> String {
    let attr = target.attr_path.join(".");
    match args.file.as_ref().and_then(|file| file.file_stem()) {
        Some(stem) if args.attr.is_some() => format!("{}.{attr}", stem.to_string_lossy()),
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => attr,
    }
}

fn pairs(flat: &[String]) -> Vec<(String, String)> {
    flat.chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect()
}

/// A pool of providers for this process.
pub(super) fn pool() -> Result<Arc<Pool>, Diagnostics> {
    let program = std::env::current_exe().map_err(|e| {
        Diagnostic::error("Cannot tell the program's own path").detail(e.to_string())
    })?;
    let places = Places {
        working_dir: working()?,
        home: env::home(),
        executable: program,
    };
    let pool = Pool::new(places, Vec::new());
    Ok(Arc::new(match env::schema_cache() {
        Some(folder) => pool.caching_schemas(folder),
        None => pool,
    }))
}

/// What realises the stack's builds.
pub(super) fn builder(stack: &Stack) -> Result<Arc<Builder>, Diagnostics> {
    let messages = stack.messages;
    Builder::new(stack.nix.clone(), &stack.run_folders, Box::new(messages)).map(Arc::new)
}

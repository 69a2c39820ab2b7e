//! From arguments to an open stack.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::args::{LockFileMode, StackArgs};
use crate::cli::env;
use crate::cli::ui::Ui;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::eval::vars::Vars;
use crate::fs::{self, PrivateDir};
use crate::nix::{EvalCache, Nix, NixOptions, Target};
use crate::ops::backend::Home;
use crate::ops::builds::Builder;
use crate::ops::stack::{FirstAnswer, Stack};
use crate::provider::{Places, Pool};
use crate::registry::{Address, DEFAULT_HOST, Installer, LOCK_FILE, Place, Settings};

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
            no_build: args.no_build,
        },
    )?;
    let installer = Installer::new(settings(args, &working, &target)?);
    let folder = working.join(STATE_FOLDER).join(stack_name(args, &target));
    let home =
        Home::new(folder, working, env::backend(), env::network()).keeping(env::state_backups()?);
    Ok(Stack {
        target,
        nix,
        vars: vars(args)?,
        home,
        run_folders,
        scratch,
        installer: Arc::new(installer),
        eval_cache: env::eval_cache(args.eval_cache).map(EvalCache::new),
        messages,
        first: FirstAnswer::default(),
    })
}

fn messages(line: &str) {
    Ui::new(true).err(&format!("{line}\n"));
}

/// Where providers come from. The lock file is beside the file or flake that declares the stack; for a flake that is not
/// on this machine, in the working folder.
fn settings(args: &StackArgs, working: &Path, target: &Target) -> Result<Settings, Diagnostics> {
    let wrong = |variable: &str, problem: String| {
        Diagnostic::error("Invalid setting").detail(format!("{variable}: {problem}"))
    };
    let places = match env::provider_mirror() {
        Some(text) => Place::parse_list(&text, working)
            .map_err(|e| wrong("NIVIS_PROVIDER_MIRROR", e.to_string()))?,
        None => vec![Place::Direct],
    };
    let default_host = env::registry().unwrap_or_else(|| DEFAULT_HOST.to_owned());
    Address::parse("a/a", &default_host).map_err(|e| wrong("NIVIS_REGISTRY", e.to_string()))?;
    let beside = target.folder.as_deref().unwrap_or(working);
    Ok(Settings {
        cache: env::provider_cache(),
        places,
        default_host,
        network: env::network(),
        lock_file: beside.join(LOCK_FILE),
        read_only: args.lockfile == LockFileMode::Readonly,
        tell: messages,
    })
}

/// What was given for variables, the least important first: environment, files, flags.
fn vars(args: &StackArgs) -> Result<Vars, Diagnostics> {
    let mut vars = Vars::default();
    for (variable, name, text) in env::variables() {
        vars.text(&name, text, &variable, true);
    }
    for path in &args.var_file {
        let problem = |text: String| {
            let d = Diagnostic::error("Cannot read the file of variables").detail(text);
            d.hint("write a JSON object, such as {\"region\": \"eu\"}")
        };
        let content = fs::read(path).map_err(|e| problem(e.to_string()))?;
        let from = path.display().to_string();
        vars.file(&content, &from)
            .map_err(|e| problem(format!("{from}: {e}")))?;
    }
    for flag in &args.var {
        let Some((name, text)) = flag.split_once('=') else {
            // What follows the name may be a secret.
            let d = Diagnostic::error("Invalid flag --var").detail("there is no `=` in it");
            return Err(d.hint("write `--var name=value`").into());
        };
        vars.text(name, text.to_owned(), "--var", false);
    }
    Ok(vars)
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

/// A pool of the stack's providers for this process.
pub(super) fn pool(stack: &Stack) -> Result<Arc<Pool>, Diagnostics> {
    let program = std::env::current_exe().map_err(|e| {
        Diagnostic::error("Cannot tell the program's own path").detail(e.to_string())
    })?;
    let places = Places {
        working_dir: working()?,
        home: env::home(),
        executable: program,
    };
    let pool = Pool::new(places, Vec::new())
        .installing(Arc::clone(&stack.installer))
        .attaching(env::running_providers()?);
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

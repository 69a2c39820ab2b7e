//! The document types. Parsing (`parse.rs`) makes them; nothing here is serialised.

use std::collections::BTreeMap;

use std::fmt;

use crate::addr::Id;
use crate::value::{Number, Path, Str, Type, Value};

/// The id of the executor's own object that has the sensitive variables, by name: what references to them name.
pub const VARIABLES: &str = "var";

/// One evaluated stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ir {
    /// Providers by id.
    pub providers: BTreeMap<String, ProviderDecl>,
    /// Managed resources.
    pub resources: Vec<Resource>,
    /// Data sources, then ephemeral resources, then function calls.
    pub data_sources: Vec<DataSource>,
    /// Who depends on whom; includes dependencies of leaves that are resolved already.
    pub edges: Vec<Edge>,
    /// Values for the reader, stack outputs among them (id `output.<name>`).
    pub consumers: Vec<Consumer>,
    /// Where the state is kept, if the stack says so.
    pub backend: Option<Backend>,
    /// Parts of the stack that are declared once outputs are known, those that are declared by now included.
    pub deferred: Vec<Deferred>,
    /// Conditions about the whole stack.
    pub checks: Vec<Check>,
    /// Existing objects to take over.
    pub imports: Vec<Import>,
    /// Resources that changed their id.
    pub moved: Vec<Moved>,
    /// Resources to let go of.
    pub removed: Vec<Removed>,
    /// What the stack can be given from outside, by name.
    pub variables: BTreeMap<String, Variable>,
}

/// A provider and its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDecl {
    /// Path, address, or `builtin`; or a build that yields the path.
    pub source: Expr,
    /// Version constraint for registry sources.
    pub version: Option<String>,
    /// Its configuration; an object.
    pub config: Expr,
    /// What it is told with every call; an object without leaf markers.
    pub meta: Option<Expr>,
}

/// A managed resource instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// `<provider>.<type>.<name>`.
    pub id: Id,
    /// Key into [`Ir::providers`].
    pub provider: String,
    /// Resource type, such as `random_pet`.
    pub ty: String,
    /// Name, with `__<key>` for an expanded instance.
    pub name: String,
    /// The configuration; an object.
    pub config: Expr,
    /// Everything about it that is not for the provider.
    pub meta: Meta,
}

/// Something that is read from a provider and never stored as managed.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSource {
    /// What is read.
    pub mode: Mode,
    /// `<mode>.<provider>.<type>.<name>`.
    pub id: Id,
    /// Key into [`Ir::providers`].
    pub provider: String,
    /// Type of the data source or ephemeral resource, or name of the function.
    pub ty: String,
    /// Name.
    pub name: String,
    /// The configuration, an object; for a function call the list of arguments.
    pub config: Expr,
    /// Everything about it that is not for the provider.
    pub meta: Meta,
}

/// The kinds of things that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A data source.
    Data,
    /// An ephemeral resource: opened for a run, and its values written down nowhere.
    Ephemeral,
    /// A call of a provider's function; its object has one attribute, `result`.
    Call,
}

impl Mode {
    /// The first part of its ids.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Ephemeral => "ephemeral",
            Self::Call => "call",
        }
    }

    /// The list of the document that holds it.
    pub fn list(self) -> &'static str {
        match self {
            Self::Data => "dataSources",
            Self::Ephemeral => "ephemeral",
            Self::Call => "calls",
        }
    }
}

/// What is not for the provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Explicit dependencies.
    pub depends_on: Vec<Id>,
    /// How the object may change.
    pub lifecycle: Lifecycle,
    /// The `count`/`forEach` key of this instance.
    pub index: Option<Index>,
    /// Builds whose outputs are mentioned in strings of the configuration.
    pub builds: Vec<DerivationOutput>,
    /// Paths of the configuration that are sensitive beyond what the schema says.
    pub sensitive: Vec<Path>,
    /// What must hold before it is planned; a dependency where it mentions outputs.
    pub preconditions: Vec<Condition>,
    /// What must hold of the result; may mention the object's own outputs.
    pub postconditions: Vec<Condition>,
}

/// Something that must be true.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// True or false, or a leaf that will be.
    pub condition: Expr,
    /// What to say if it is false: a string, or a leaf that will be.
    pub message: Expr,
}

/// Rules about changes of one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lifecycle {
    /// Refuse every plan that destroys it.
    pub prevent_destroy: bool,
    /// Differences to leave alone.
    pub ignore_changes: IgnoreChanges,
    /// Make the replacement before the old object goes.
    pub create_before_destroy: bool,
    /// Replace it when one of these changes; the root path stands for any change of the resource.
    pub replace_triggered_by: Vec<Ref>,
}

/// Which configuration differences do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IgnoreChanges {
    /// Every difference counts.
    #[default]
    None,
    /// Differences at these paths do not count.
    Paths(Vec<Path>),
    /// No difference counts.
    All,
}

/// Key of an expanded instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Index {
    /// Of `count`.
    Number(u64),
    /// Of `forEach`.
    Key(Str),
}

/// `to` depends on `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// What is depended on: a resource or data source.
    pub from: Id,
    /// Who depends: a resource, data source, `provider.<id>` or consumer.
    pub to: Id,
    /// Where in `to`'s configuration, steps joined by `.`.
    pub via: String,
}

/// A value computed from outputs, for the reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Consumer {
    /// `output.<name>` for a stack output.
    pub id: String,
    /// The value.
    pub value: Expr,
    /// Never to be shown.
    pub sensitive: bool,
    /// For people.
    pub description: Option<String>,
}

/// Kind of state storage and its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Backend {
    /// Such as `local` or `http`.
    pub ty: String,
    /// Everything else; holds no leaf markers.
    pub settings: BTreeMap<Str, Expr>,
}

/// More of the stack, declared once its inputs are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Deferred {
    /// Where the author wrote it, for messages.
    pub id: String,
    /// What has to be known first.
    pub inputs: Vec<Ref>,
    /// What it declares, once that is known.
    pub declares: Option<Vec<Id>>,
}

/// A named condition about the whole stack. Its failure is a warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// For messages.
    pub name: String,
    /// What should hold.
    pub condition: Condition,
}

/// An existing object to take over.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The resource that will manage it.
    pub to: Id,
    /// The provider's name for the object: a string, or a leaf that will be.
    pub id: Expr,
}

/// A resource that changed its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The id it had.
    pub from: Id,
    /// The id it has.
    pub to: Id,
}

/// A resource to let go of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The id it had.
    pub from: Id,
    /// Destroy the object; otherwise it is only forgotten.
    pub destroy: bool,
}

/// A value the stack takes from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variable {
    /// What it is converted to; anything without it.
    pub ty: Option<Type>,
    /// For people.
    pub description: Option<String>,
    /// Never to be shown.
    pub sensitive: bool,
    /// A null that is given stands for the default.
    pub not_nullable: bool,
    /// Used when nothing is given; without one the variable is required.
    pub default: Option<Expr>,
    /// Its value in this evaluation, unless it is sensitive.
    pub value: Option<Expr>,
    /// Its value if it is sensitive: the executor fills it in, no document has it.
    pub secret: Option<Hidden<Value>>,
}

/// A secret. It says nothing about itself in logs and panics.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden<T>(pub T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive value)")
    }
}

/// A configuration tree: plain data with leaf markers.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Expr {
    /// JSON null.
    #[default]
    Null,
    /// JSON boolean.
    Bool(bool),
    /// JSON number, exact.
    Number(Number),
    /// JSON string.
    String(Str),
    /// JSON array.
    List(Vec<Expr>),
    /// JSON object that is no marker.
    Object(BTreeMap<Str, Expr>),
    /// `__ref`: another object's output.
    Ref(Ref),
    /// `__derived`: computed from outputs once they are known.
    Derived(Derived),
    /// `__sensitiveRef`: an output that only the executor may see.
    SensitiveRef(Ref),
    /// `__build`: an output of a Nix build.
    Build(Build),
}

/// Target of a reference. Steps are [`crate::value::Step::Attribute`] for string keys (map keys too: the schema tells them
/// apart later) and [`crate::value::Step::Index`] for integers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref {
    /// Resource or data source.
    pub resource: Id,
    /// Path into its object.
    pub path: Path,
}

/// A leaf that waits for outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// What it waits for.
    pub inputs: Vec<Ref>,
    /// If set, the value is these parts concatenated, and Nix is not needed: [`Expr::String`] and [`Expr::Ref`] only.
    pub template: Option<Vec<Expr>>,
    /// The result is sensitive.
    pub sensitive: bool,
    /// The result of a sensitive one, in an evaluation with secrets; no document that is shown or kept has it.
    pub value: Option<Box<Hidden<Expr>>>,
}

/// A path in an output of a Nix derivation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    /// The path to substitute.
    pub path: String,
    /// The derivation that makes it; without one the path can only be substituted, not built.
    pub drv: Option<String>,
    /// Which output of it.
    pub output: Option<String>,
}

/// An output of a Nix derivation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DerivationOutput {
    /// The derivation.
    pub drv: String,
    /// Which output of it; `out` if it does not say.
    pub output: Option<String>,
}

//! The forms of a plan's own types. A field that is added to one of them does not compile until it is decided about here.

use serde::{Deserialize, Serialize};

use super::form::{FormError, Name, Stored, record, words};
use crate::addr::Id;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::ir::{Index, Mode};
use crate::plan::conditions::{CheckResult, CheckResults, CheckStatus, Kind};
use crate::plan::import::ImportBy;
use crate::plan::moves::{Crossing, Move};
use crate::plan::prior::Prior;
use crate::plan::resolve::Outputs;
use crate::plan::stack::PlanOptions;
use crate::plan::target::Limit;
use crate::plan::{Action, Change, ChangeTarget, DataRead, DeposedChange, Drift, Reason};
use crate::provider::Identity;
use crate::state::Status;
use crate::value::{Path, PathSet, Type, Value};

use std::collections::{BTreeMap, BTreeSet};

words!(Action {
    NoOp: "no-op",
    Read: "read",
    Create: "create",
    Update: "update",
    DeleteThenCreate: "delete, create",
    CreateThenDelete: "create, delete",
    Delete: "delete",
    Forget: "forget",
});
words!(Reason {
    Tainted: "tainted",
    Requested: "requested",
    Triggered: "triggered",
    NotInConfiguration: "not in configuration",
    Removed: "removed",
    Destroy: "destroy",
    ReadDuringApply: "read during apply",
});
words!(Status {
    Ready: "ready",
    Tainted: "tainted"
});
words!(Mode {
    Data: "data",
    Ephemeral: "ephemeral",
    Call: "call"
});
words!(Kind {
    Precondition: "precondition",
    Postcondition: "postcondition",
    Check: "check"
});
words!(CheckStatus {
    Pass: "pass",
    Unknown: "unknown",
    Fail: "fail",
    Error: "error"
});
words!(Severity {
    Error: "error",
    Warning: "warning"
});

record!(ChangeTarget as TargetForm {
    id: Id, provider: String, ty: String, name: String, index: Option<Index>,
});
record!(Identity as IdentityForm { version: i64, value: Value });
record!(Prior as PriorForm {
    value: Value, private: Vec<u8>, identity: Option<Identity>, status: Status, sensitive: PathSet,
    create_before_destroy: bool,
});
// The configuration is resolved again for the change, and it alone holds write-only values.
record!(Change as ChangeForm {
    target: ChangeTarget, action: Action, reason: Option<Reason>, prior: Option<Prior>, after: Value,
    config_sensitive: PathSet, sensitive: PathSet, private: Vec<u8>, identity: Option<Identity>,
    replace_paths: Vec<Path>, create_before_destroy: bool, dependencies: Vec<Id>,
} leaving out { config: Value::null(Type::Dynamic) });
record!(DeposedChange as DeposedForm {
    target: ChangeTarget, key: String, prior: Option<Prior>, private: Vec<u8>,
});
record!(DataRead as ReadForm {
    mode: Mode, provider: String, ty: String, name: String, value: Value, deferred: bool, awaits_change: bool,
    dependencies: Vec<Id>,
});
record!(Drift as DriftForm { target: ChangeTarget, before: Value, after: Value, sensitive: PathSet });
record!(Outputs as OutputsForm { value: Value, sensitive: PathSet });
record!(CheckResult as CheckForm { status: CheckStatus, messages: Vec<String> });
record!(CheckResults as ChecksForm {
    objects: BTreeMap<Id, BTreeMap<Kind, CheckResult>>, checks: BTreeMap<String, CheckResult>,
});
record!(Crossing as CrossingForm { provider: String, ty: String });
record!(Move as MoveForm { from: ChangeTarget, crossing: Option<Crossing> });
record!(Diagnostic as DiagnosticForm {
    severity: Severity, summary: String, detail: String, address: Option<String>, path: Option<Path>, hint: Option<String>,
});
record!(PlanOptions as OptionsForm {
    destroy: bool, refresh: bool, refresh_only: bool, limit: Limit, replace: BTreeSet<Id>,
} leaving out { parallelism: PlanOptions::default().parallelism });

impl Stored for Diagnostics {
    type Form = Vec<DiagnosticForm>;
    fn form(&self) -> Self::Form {
        self.0.form()
    }
    fn read(form: Self::Form) -> Result<Self, FormError> {
        Vec::read(form).map(Self)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum IndexForm {
    Number(u64),
    Key(String),
}

impl Stored for Index {
    type Form = IndexForm;
    fn form(&self) -> IndexForm {
        match self {
            Self::Number(n) => IndexForm::Number(*n),
            Self::Key(key) => IndexForm::Key(key.to_string()),
        }
    }
    fn read(form: IndexForm) -> Result<Self, FormError> {
        Ok(match form {
            IndexForm::Number(n) => Self::Number(n),
            IndexForm::Key(key) => Self::Key(key.into()),
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ImportForm {
    Id(String),
    Identity(IdentityForm),
}

impl Stored for ImportBy {
    type Form = ImportForm;
    fn form(&self) -> ImportForm {
        match self {
            Self::Id(id) => ImportForm::Id(id.clone()),
            Self::Identity(identity) => ImportForm::Identity(identity.form()),
        }
    }
    fn read(form: ImportForm) -> Result<Self, FormError> {
        Ok(match form {
            ImportForm::Id(id) => Self::Id(id),
            ImportForm::Identity(identity) => Self::Identity(Identity::read(identity)?),
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LimitForm {
    Nothing,
    Only(Vec<String>),
    Without(Vec<String>),
}

impl Stored for Limit {
    type Form = LimitForm;
    fn form(&self) -> LimitForm {
        match self {
            Self::Nothing => LimitForm::Nothing,
            Self::Only(ids) => LimitForm::Only(ids.clone()),
            Self::Without(ids) => LimitForm::Without(ids.clone()),
        }
    }
    fn read(form: LimitForm) -> Result<Self, FormError> {
        Ok(match form {
            LimitForm::Nothing => Self::Nothing,
            LimitForm::Only(ids) => Self::Only(ids),
            LimitForm::Without(ids) => Self::Without(ids),
        })
    }
}

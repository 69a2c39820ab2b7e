//! How the parts of a plan are written: each type has a form that serde knows.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::addr::Id;
use crate::value::{Path, PathSet, Step, Type, Value, msgpack};

/// What is wrong with a form, and where: member names joined by `/`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
pub(super) struct FormError {
    at: String,
    problem: String,
}

impl FormError {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self {
            at: String::new(),
            problem: problem.into(),
        }
    }

    /// The same problem, seen from the object that has this member.
    pub(super) fn within(mut self, member: &str) -> Self {
        if !self.at.is_empty() {
            self.at.insert(0, '/');
        }
        self.at.insert_str(0, member);
        self
    }
}

/// What can be written to a plan file and read from it.
pub(super) trait Stored: Sized {
    type Form: Serialize + DeserializeOwned;
    fn form(&self) -> Self::Form;
    fn read(form: Self::Form) -> Result<Self, FormError>;
}

/// What can be the key of a member.
pub(super) trait Name: Sized {
    fn name(&self) -> String;
    fn named(name: String) -> Result<Self, FormError>;
}

/// Types that are their own form.
macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            type Form = Self;
            fn form(&self) -> Self {
                self.clone()
            }
            fn read(form: Self) -> Result<Self, FormError> {
                Ok(form)
            }
        }
    )*};
}
plain!(bool, i64, u64, String);

/// A struct whose fields are all stored; those after `leaving out` get the values given there.
macro_rules! record {
    ($ty:ident as $form:ident { $($field:ident: $t:ty),* $(,)? } $(leaving out { $($left:ident: $value:expr),* })?) => {
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $form { $($field: <$t as Stored>::Form),* }

        impl Stored for $ty {
            type Form = $form;
            fn form(&self) -> $form {
                let $ty { $($field,)* $($($left: _,)*)? } = self;
                $form { $($field: $field.form()),* }
            }
            fn read(form: $form) -> Result<Self, FormError> {
                let $form { $($field),* } = form;
                Ok($ty {
                    $($field: <$t as Stored>::read($field).map_err(|e| e.within(stringify!($field)))?,)*
                    $($($left: $value,)*)?
                })
            }
        }
    };
}

/// An enum whose variants are words.
macro_rules! words {
    ($ty:ident { $($variant:ident: $word:literal),* $(,)? }) => {
        impl Name for $ty {
            fn name(&self) -> String {
                match self { $(Self::$variant => $word),* }.to_owned()
            }
            fn named(name: String) -> Result<Self, FormError> {
                match &*name {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(FormError::new(format!("unknown word {name:?}"))),
                }
            }
        }
        impl Stored for $ty {
            type Form = String;
            fn form(&self) -> String {
                self.name()
            }
            fn read(form: String) -> Result<Self, FormError> {
                Self::named(form)
            }
        }
    };
}

pub(super) use {record, words};

impl<T: Stored> Stored for Option<T> {
    type Form = Option<T::Form>;
    fn form(&self) -> Self::Form {
        self.as_ref().map(T::form)
    }
    fn read(form: Self::Form) -> Result<Self, FormError> {
        form.map(T::read).transpose()
    }
}

impl<T: Stored> Stored for Vec<T> {
    type Form = Vec<T::Form>;
    fn form(&self) -> Self::Form {
        self.iter().map(T::form).collect()
    }
    fn read(form: Self::Form) -> Result<Self, FormError> {
        let items = form.into_iter().enumerate();
        items
            .map(|(i, item)| T::read(item).map_err(|e| e.within(&i.to_string())))
            .collect()
    }
}

impl<K: Name + Ord, T: Stored> Stored for BTreeMap<K, T> {
    type Form = BTreeMap<String, T::Form>;
    fn form(&self) -> Self::Form {
        self.iter().map(|(k, v)| (k.name(), v.form())).collect()
    }
    fn read(form: Self::Form) -> Result<Self, FormError> {
        let entry = |(name, item): (String, T::Form)| {
            let item = T::read(item).map_err(|e| e.within(&name))?;
            Ok((K::named(name)?, item))
        };
        form.into_iter().map(entry).collect()
    }
}

impl Stored for BTreeSet<Id> {
    type Form = Vec<String>;
    fn form(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
    fn read(form: Vec<String>) -> Result<Self, FormError> {
        Ok(form.into_iter().map(Id::from).collect())
    }
}

impl Name for String {
    fn name(&self) -> String {
        self.clone()
    }
    fn named(name: String) -> Result<Self, FormError> {
        Ok(name)
    }
}

impl Name for Id {
    fn name(&self) -> String {
        self.to_string()
    }
    fn named(name: String) -> Result<Self, FormError> {
        Ok(Self::from(name))
    }
}

impl Stored for Id {
    type Form = String;
    fn form(&self) -> String {
        self.to_string()
    }
    fn read(form: String) -> Result<Self, FormError> {
        Ok(Self::from(form))
    }
}

/// Bytes, in base64.
impl Stored for Vec<u8> {
    type Form = String;
    fn form(&self) -> String {
        BASE64.encode(self)
    }
    fn read(form: String) -> Result<Self, FormError> {
        BASE64
            .decode(form)
            .map_err(|e| FormError::new(e.to_string()))
    }
}

/// A value with its type, unknown parts included: MessagePack, in base64.
impl Stored for Value {
    type Form = String;
    fn form(&self) -> String {
        // Only a value nested deeper than any that was decoded has no form; reading back the empty text then fails.
        BASE64.encode(msgpack::encode(self, &Type::Dynamic).unwrap_or_default())
    }
    fn read(form: String) -> Result<Self, FormError> {
        let bytes = BASE64
            .decode(form)
            .map_err(|e| FormError::new(e.to_string()))?;
        msgpack::decode(&bytes, &Type::Dynamic).map_err(|e| FormError::new(e.to_string()))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StepForm {
    Attribute(String),
    Key(String),
    Index(u64),
}

impl Stored for Step {
    type Form = StepForm;
    fn form(&self) -> StepForm {
        match self {
            Self::Attribute(name) => StepForm::Attribute(name.to_string()),
            Self::Key(key) => StepForm::Key(key.to_string()),
            Self::Index(i) => StepForm::Index(*i),
        }
    }
    fn read(form: StepForm) -> Result<Self, FormError> {
        Ok(match form {
            StepForm::Attribute(name) => Self::Attribute(name.into()),
            StepForm::Key(key) => Self::Key(key.into()),
            StepForm::Index(i) => Self::Index(i),
        })
    }
}

impl Stored for Path {
    type Form = Vec<StepForm>;
    fn form(&self) -> Vec<StepForm> {
        self.0.form()
    }
    fn read(form: Vec<StepForm>) -> Result<Self, FormError> {
        Vec::read(form).map(Self)
    }
}

impl Stored for PathSet {
    type Form = Vec<Vec<StepForm>>;
    fn form(&self) -> Self::Form {
        self.iter().map(Path::form).collect()
    }
    fn read(form: Self::Form) -> Result<Self, FormError> {
        let paths: Vec<Path> = Vec::read(form)?;
        Ok(paths.into_iter().collect())
    }
}

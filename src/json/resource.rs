//! Names of resources as Terraform's formats give them.

use serde::Serialize;
use serde_json::Value as Json;

use crate::addr::Id;
use crate::ir::Index;

/// Managed or data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A resource we create and destroy.
    Managed,
    /// A data source.
    Data,
}

/// Which resource instance something is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceName {
    /// Terraform's address: `type.name`, `type.name["key"]`, `data.type.name`.
    pub address: String,
    /// Our id: `<provider>.<type>.<name>`.
    pub nivis_id: String,
    /// Managed or data.
    pub mode: Mode,
    /// The resource type.
    #[serde(rename = "type")]
    pub ty: String,
    /// The name, without the instance key.
    pub name: String,
    /// The instance key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Json>,
    /// The provider's source address.
    pub provider_name: String,
}

/// Input of [`ResourceName::new`].
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Managed or data.
    pub mode: Mode,
    /// Our id.
    pub id: &'a Id,
    /// The resource type.
    pub ty: &'a str,
    /// The name as in the IR: of an expanded instance `<base>__<key>`.
    pub name: &'a str,
    /// The instance key.
    pub index: Option<&'a Index>,
    /// The provider's source address.
    pub provider: &'a str,
}

impl ResourceName {
    /// The names of a resource instance.
    pub fn new(named: Named<'_>) -> Self {
        let Named {
            mode,
            id,
            ty,
            name,
            index,
            provider,
        } = named;
        // The escaped key has no `__`, so the last one ends the base name.
        let base = match index {
            Some(_) => name.rsplit_once("__").map_or(name, |(base, _)| base),
            None => name,
        };
        let prefix = if mode == Mode::Data { "data." } else { "" };
        let key = match index {
            None => String::new(),
            Some(Index::Number(n)) => format!("[{n}]"),
            Some(Index::Key(key)) => format!("[{}]", Json::String(key.replace("${", "$${"))),
        };
        Self {
            address: format!("{prefix}{ty}.{base}{key}"),
            nivis_id: id.to_string(),
            mode,
            ty: ty.to_owned(),
            name: base.to_owned(),
            index: index.map(|index| match index {
                Index::Number(n) => Json::from(*n),
                Index::Key(key) => Json::String(key.to_string()),
            }),
            provider_name: provider.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let key = |k: &str| Some(Index::Key(k.into()));
        for (mode, name, index, address, base) in [
            (Mode::Managed, "web", None, "t.web", "web"),
            (Mode::Managed, "a__b", None, "t.a__b", "a__b"),
            (Mode::Data, "web", None, "data.t.web", "web"),
            (
                Mode::Managed,
                "web__0",
                Some(Index::Number(0)),
                "t.web[0]",
                "web",
            ),
            (Mode::Managed, "web__a", key("a"), r#"t.web["a"]"#, "web"),
            (Mode::Managed, "a__b_%5Fx", key("_x"), r#"t.a["_x"]"#, "a"),
            (Mode::Managed, "a___k", key("k"), r#"t.a_["k"]"#, "a_"),
            (
                Mode::Managed,
                "web__%24%7B%22",
                key("${\""),
                r#"t.web["$${\""]"#,
                "web",
            ),
        ] {
            let id = Id::from(format!("p.t.{name}"));
            let index = index.as_ref();
            let got = ResourceName::new(Named {
                mode,
                id: &id,
                ty: "t",
                name,
                index,
                provider: "p",
            });
            assert_eq!((&*got.address, &*got.name), (address, base), "{name}");
        }
    }
}

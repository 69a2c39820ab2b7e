//! Addresses as Terraform and OpenTofu write them: of modules, resources, instances and provider configurations (pure).

use std::fmt;

use crate::ir::Index;

/// A name with an instance key, if it has one: `web`, `web[0]`, `web["a"]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keyed {
    /// The name.
    pub name: String,
    /// The key in brackets.
    pub key: Option<Key>,
}

/// An instance key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Of `count`.
    Number(u64),
    /// Of `for_each`.
    Text(String),
}

/// The address of a resource, of one instance of it, or of a module: `module.net["eu"].aws_vpc.main[0]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The modules it is in, outermost first.
    pub modules: Vec<Keyed>,
    /// Whether it is a data source.
    pub data: bool,
    /// Type and name; none for a module.
    pub resource: Option<(String, Keyed)>,
}

/// A provider configuration: `provider["registry.terraform.io/hashicorp/aws"].west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderRef {
    /// Where the provider is from: `<host>/<namespace>/<type>`; of old states only the type.
    pub source: String,
    /// Which of its configurations; none for the default one.
    pub alias: Option<String>,
    /// The key of an instance of that configuration, which OpenTofu has.
    pub key: Option<String>,
}

impl Address {
    /// Reads an address of any kind; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = steps(text)?.into_iter().peekable();
        let mut address = Self::default();
        while steps.next_if(|step| is(step, "module")).is_some() {
            address.modules.push(steps.next()?);
        }
        address.data = steps.next_if(|step| is(step, "data")).is_some();
        if let Some(ty) = steps.next() {
            address.resource = Some((plain(ty)?, steps.next()?));
        }
        let whole = address.resource.is_some() || !address.data && !address.modules.is_empty();
        (whole && steps.next().is_none()).then_some(address)
    }

    /// The key of the instance, if it is the address of one.
    pub fn key(&self) -> Option<&Key> {
        self.resource
            .as_ref()
            .and_then(|(_, name)| name.key.as_ref())
    }

    /// The resource that it is an instance of.
    #[must_use]
    pub fn without_key(&self) -> Self {
        let mut address = self.clone();
        if let Some((_, name)) = &mut address.resource {
            name.key = None;
        }
        address
    }

    /// Whether it is (in) the module that `module` is the address of. Without a key, `module` stands for all its instances.
    pub fn is_in(&self, module: &Self) -> bool {
        let inside = |(own, other): (&Keyed, &Keyed)| {
            own.name == other.name && (other.key.is_none() || own.key == other.key)
        };
        module.resource.is_none()
            && self.modules.len() >= module.modules.len()
            && self.modules.iter().zip(&module.modules).all(inside)
    }
}

impl ProviderRef {
    /// Reads what a state says of a resource's provider, the module it is declared in left out; `None` if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = steps(text)?.into_iter().peekable();
        while steps.next_if(|step| is(step, "module")).is_some() {
            steps.next()?;
        }
        let first = steps.next().filter(|step| step.name == "provider")?;
        let source = match first.key {
            Some(Key::Text(source)) => source,
            Some(Key::Number(_)) => return None,
            // Before 0.13: `provider.aws.west`.
            None => plain(steps.next()?)?,
        };
        let alias = steps.next();
        let key = match alias.as_ref().and_then(|alias| alias.key.clone()) {
            Some(Key::Text(key)) => Some(key),
            Some(Key::Number(n)) => Some(n.to_string()),
            None => None,
        };
        let whole = steps.next().is_none();
        whole.then_some(Self {
            source,
            alias: alias.map(|alias| alias.name),
            key,
        })
    }

    /// The last part of the address: `aws`.
    pub fn ty(&self) -> &str {
        self.source.rsplit('/').next().unwrap_or(&self.source)
    }
}

fn is(step: &Keyed, name: &str) -> bool {
    step.name == name && step.key.is_none()
}

/// A step that must not have a key.
fn plain(step: Keyed) -> Option<String> {
    step.key.is_none().then_some(step.name)
}

/// The parts between the dots.
fn steps(text: &str) -> Option<Vec<Keyed>> {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, more) = rest.split_at(end);
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-".contains(c))
        {
            return None;
        }
        let (key, more) = match more.strip_prefix('[') {
            Some(more) => key(more).map(|(key, more)| (Some(key), more))?,
            None => (None, more),
        };
        let name = name.to_owned();
        steps.push(Keyed { name, key });
        if more.is_empty() {
            return Some(steps);
        }
        rest = more.strip_prefix('.')?;
    }
}

/// What is between brackets, and what is behind them.
fn key(text: &str) -> Option<(Key, &str)> {
    if !text.starts_with('"') {
        let (number, more) = text.split_once(']')?;
        return Some((Key::Number(number.parse().ok()?), more));
    }
    let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let key = strings.next()?.ok()?;
    let more = text.get(strings.byte_offset()..)?.strip_prefix(']')?;
    // Templates begin with these, so that they are doubled in a literal.
    let key = key.replace("$${", "${").replace("%%{", "%{");
    Some((Key::Text(key), more))
}

impl From<&Index> for Key {
    fn from(index: &Index) -> Self {
        match index {
            Index::Number(n) => Self::Number(*n),
            Index::Key(key) => Self::Text(key.to_string()),
        }
    }
}

impl From<&Key> for Index {
    fn from(key: &Key) -> Self {
        match key {
            Key::Number(n) => Self::Number(*n),
            Key::Text(key) => Self::Key(key.as_str().into()),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "[{n}]"),
            Self::Text(key) => {
                let literal = key.replace("${", "$${").replace("%{", "%%{");
                write!(f, "[{}]", serde_json::Value::from(literal))
            }
        }
    }
}

impl fmt::Display for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.key.iter().try_for_each(|key| key.fmt(f))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modules = self.modules.iter().map(|module| format!("module.{module}"));
        let data = self.data.then(|| "data".to_owned());
        let resource = self
            .resource
            .iter()
            .map(|(ty, name)| format!("{ty}.{name}"));
        let parts: Vec<String> = modules.chain(data).chain(resource).collect();
        f.write_str(&parts.join("."))
    }
}

impl fmt::Display for ProviderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "provider[{}]", serde_json::Value::from(&*self.source))?;
        if let Some(alias) = &self.alias {
            write!(f, ".{alias}")?;
        }
        let key = self.key.iter();
        key.map(|key| Key::Text(key.clone()))
            .try_for_each(|key| key.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for text in [
            "aws_vpc.main",
            "aws_vpc.main[0]",
            r#"aws_vpc.main["a.b[0]"]"#,
            r#"aws_vpc.main["q\"$${x} ä"]"#,
            "data.aws_vpc.main",
            "module.net",
            r#"module.net["eu"].module.sub[1]"#,
            r#"module.net["eu"].data.aws_vpc.main[3]"#,
            "module.data.aws_vpc.module",
        ] {
            let address = Address::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(address.to_string(), text);
        }
        let address = Address::parse(r#"aws_vpc.main["q\"$${x} ä"]"#).unwrap();
        assert_eq!(address.key(), Some(&Key::Text("q\"${x} ä".to_owned())));
    }

    #[test]
    fn what_is_no_address() {
        for text in [
            "",
            "aws_vpc",
            "data.aws_vpc",
            "data",
            "module",
            "a.b.c",
            "a.b[",
            "a.b[x]",
            "a.b[-1]",
            r#"a.b["x]"#,
            r#"a.b["x"]y"#,
            "a..b",
            "a.b.",
            "a[0].b",
            "a b.c",
        ] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }

    #[test]
    fn modules_hold_what_is_in_them() {
        let address = |text| Address::parse(text).unwrap();
        for (inner, module, expected) in [
            ("module.a.x.y", "module.a", true),
            ("module.a[0].x.y", "module.a", true),
            ("module.a[0].x.y", "module.a[0]", true),
            ("module.a[1].x.y", "module.a[0]", false),
            ("module.a.module.b.x.y", "module.a", true),
            ("module.a.x.y", "module.a.module.b", false),
            ("module.b.x.y", "module.a", false),
            ("x.y", "module.a", false),
            ("x.y", "x.y", false),
        ] {
            assert_eq!(
                address(inner).is_in(&address(module)),
                expected,
                "{inner} {module}"
            );
        }
    }

    #[test]
    fn providers() {
        for (text, source, alias, key) in [
            (r#"provider["a.b/c/aws"]"#, "a.b/c/aws", None, None),
            (
                r#"provider["a.b/c/aws"].west"#,
                "a.b/c/aws",
                Some("west"),
                None,
            ),
            (
                r#"provider["a.b/c/aws"].by["eu"]"#,
                "a.b/c/aws",
                Some("by"),
                Some("eu"),
            ),
        ] {
            let found = ProviderRef::parse(text).unwrap();
            assert_eq!(
                (&*found.source, found.alias.as_deref(), found.key.as_deref()),
                (source, alias, key)
            );
            assert_eq!((found.to_string().as_str(), found.ty()), (text, "aws"));
        }
        let old = ProviderRef::parse("module.x.provider.aws.west").unwrap();
        assert_eq!((&*old.source, old.alias.as_deref()), ("aws", Some("west")));
        for text in ["", "aws", "provider", "provider[0]", r#"provider["a"].b.c"#] {
            assert_eq!(ProviderRef::parse(text), None, "{text}");
        }
    }
}

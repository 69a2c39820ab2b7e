//! Looking into configuration trees.

use std::fmt;

use serde_json::Value as Json;

use super::{Build, DataSource, DerivationOutput, Derived, Expr, Meta, Ref, Resource};
use crate::value::{Path, Step};

impl Expr {
    /// Calls `f` with every part of the tree and its path, outside in; the parts of a leaf marker are not parts of the
    /// tree. Object members are [`Step::Attribute`] steps.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&Path, &'a Self)) {
        self.visit_at(&mut Path::root(), f);
    }

    fn visit_at<'a>(&'a self, path: &mut Path, f: &mut impl FnMut(&Path, &'a Self)) {
        f(path, self);
        match self {
            Self::List(items) => {
                for (i, item) in (0..).zip(items) {
                    path.0.push(Step::Index(i));
                    item.visit_at(path, f);
                    path.0.pop();
                }
            }
            Self::Object(members) => {
                for (name, member) in members {
                    path.0.push(Step::Attribute(name.clone()));
                    member.visit_at(path, f);
                    path.0.pop();
                }
            }
            _ => {}
        }
    }

    /// The tree as JSON; `None` if it has a leaf marker.
    pub fn to_json(&self) -> Option<Json> {
        Some(match self {
            Self::Null => Json::Null,
            Self::Bool(b) => Json::Bool(*b),
            Self::Number(n) => Json::Number(n.to_json_number()?),
            Self::String(s) => Json::String(s.to_string()),
            Self::List(items) => items.iter().map(Self::to_json).collect::<Option<_>>()?,
            Self::Object(members) => Json::Object(
                members
                    .iter()
                    .map(|(name, member)| Some((name.to_string(), member.to_json()?)))
                    .collect::<Option<_>>()?,
            ),
            Self::Ref(_) | Self::Derived(_) | Self::SensitiveRef(_) | Self::Build(_) => {
                return None;
            }
        })
    }

    /// Every part of the tree, outside in, without the paths.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let mut todo = vec![self];
        std::iter::from_fn(move || {
            let part = todo.pop()?;
            match part {
                Self::List(items) => todo.extend(items.iter().rev()),
                Self::Object(members) => todo.extend(members.values().rev()),
                Self::Derived(Derived {
                    value: Some(value), ..
                }) => todo.push(&value.0),
                _ => {}
            }
            Some(part)
        })
    }

    /// Every output that the tree depends on: references and the inputs of derived leaves. With repetitions.
    pub fn inputs(&self) -> impl Iterator<Item = &Ref> {
        self.parts().flat_map(|part| match part {
            Self::Ref(r) | Self::SensitiveRef(r) => std::slice::from_ref(r),
            Self::Derived(derived) => &derived.inputs,
            _ => &[],
        })
    }

    /// Every derived leaf that only Nix can compute.
    pub fn pending(&self) -> impl Iterator<Item = &Derived> {
        self.parts().filter_map(|part| match part {
            Self::Derived(derived) if derived.template.is_none() && derived.value.is_none() => {
                Some(derived)
            }
            _ => None,
        })
    }

    /// Every derived leaf whose result is only for the executor, computed or not.
    pub fn secrets(&self) -> impl Iterator<Item = &Derived> {
        self.parts().filter_map(|part| match part {
            Self::Derived(derived) if derived.sensitive && derived.template.is_none() => {
                Some(derived)
            }
            _ => None,
        })
    }

    /// Every build leaf.
    pub fn builds(&self) -> impl Iterator<Item = &Build> {
        self.parts().filter_map(|part| match part {
            Self::Build(build) => Some(build),
            _ => None,
        })
    }
}

impl fmt::Display for Ref {
    /// The id and the steps, joined by dots: as in `inputs` of a derived leaf.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.resource.fmt(f)?;
        for step in &self.path.0 {
            match step {
                Step::Attribute(name) | Step::Key(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, ".{index}")?,
            }
        }
        Ok(())
    }
}
impl Resource {
    /// The builds that must exist before its provider sees the configuration.
    pub fn builds(&self) -> Vec<Build> {
        needed(&self.config, &self.meta)
    }
}

impl DataSource {
    /// The builds that must exist before its provider sees the configuration.
    pub fn builds(&self) -> Vec<Build> {
        needed(&self.config, &self.meta)
    }
}

fn needed(config: &Expr, meta: &Meta) -> Vec<Build> {
    let mentioned = meta.builds.iter().map(|output| Build {
        // Where no string has the output's path, the derivation's own exists as soon as it can be built.
        path: mentioned_path(config, output).unwrap_or_else(|| output.drv.clone()),
        drv: Some(output.drv.clone()),
        output: output.output.clone(),
    });
    config.builds().cloned().chain(mentioned).collect()
}

/// The path of an output that stands inside a string: in the same store, with the derivation's name.
fn mentioned_path(config: &Expr, output: &DerivationOutput) -> Option<String> {
    let (store, file) = output.drv.rsplit_once('/')?;
    let (hash, name) = file.strip_suffix(".drv")?.split_once('-')?;
    let name = match output.output.as_deref() {
        None | Some("out") => name.to_owned(),
        Some(output) => format!("{name}-{output}"),
    };
    let start = format!("{store}/");
    let in_text = |text: &str| {
        text.match_indices(&start).find_map(|(at, _)| {
            let rest = &text[at + start.len()..];
            let found = rest.get(hash.len()..)?.strip_prefix('-')?;
            let after = found.strip_prefix(&*name)?;
            // A longer name is another output or another derivation.
            let ends =
                !after.starts_with(|c: char| c.is_ascii_alphanumeric() || "+-._?=".contains(c));
            ends.then(|| format!("{start}{}-{name}", &rest[..hash.len()]))
        })
    };
    config.parts().find_map(|part| match part {
        Expr::String(text) => in_text(text),
        Expr::Derived(Derived {
            template: Some(parts),
            ..
        }) => parts.iter().find_map(|part| match part {
            Expr::String(text) => in_text(text),
            _ => None,
        }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    /// The first resource's configuration, and the id of another one to refer to.
    fn config(json: &str) -> Expr {
        let other = r#"{"id":"p.t.a","provider":"p","type":"t","name":"a","config":{}}"#;
        let document = format!(
            r#"{{"schemaVersion":1,"providers":{{"p":{{"source":"x"}}}},"edges":[],"nixConsumers":[],"resources":[
                {{"id":"p.t.b","provider":"p","type":"t","name":"b","config":{json}}},{other}]}}"#
        );
        parse(document.as_bytes())
            .unwrap()
            .resources
            .remove(0)
            .config
    }

    fn sample() -> Expr {
        config(
            r#"{
                "a": [{"__ref": {"resource": "p.t.a", "path": ["x", 0, "y.z"]}}, 1],
                "b": {"__object": {"__ref": {"__derived": {"inputs": ["p.t.a.id"]}}}},
                "c": {"__derived": {"inputs": ["p.t.a.n.0"], "template": ["-", {"__ref": {"resource": "p.t.a", "path": ["n", 0]}}]}},
                "d": {"e": {"__build": {"path": "/x"}}, "f": {"__sensitiveRef": {"resource": "p.t.a", "path": ["s"]}}}
            }"#,
        )
    }

    #[test]
    fn visit_tells_every_part_and_its_path() {
        let mut found = Vec::new();
        sample().visit(&mut |path, part| {
            let kind = format!("{part:?}");
            let kind = kind.split(['(', ' ']).next().unwrap().to_owned();
            found.push(format!("{path} {kind}"));
        });
        let want = [
            " Object",
            "a List",
            "a[0] Ref",
            "a[1] Number",
            "b Object",
            "b.__ref Derived",
            "c Derived",
            "d Object",
            "d.e Build",
            "d.f SensitiveRef",
        ];
        assert_eq!(found, want);
    }

    #[test]
    fn leaves_are_found() {
        let expr = sample();
        let inputs: Vec<String> = expr.inputs().map(ToString::to_string).collect();
        assert_eq!(
            inputs,
            ["p.t.a.x.0.y.z", "p.t.a.id", "p.t.a.n.0", "p.t.a.s"]
        );
        let pending: Vec<_> = expr.pending().map(|d| d.inputs[0].to_string()).collect();
        assert_eq!(pending, ["p.t.a.id"]);
        assert_eq!(expr.builds().count(), 1);
    }

    #[test]
    fn input_paths_are_exact() {
        let expr = config(r#"{"a": {"__derived": {"inputs": ["p.t.a.n.0.007.x-1"]}}}"#);
        let step = |s: &str| Step::Attribute(s.into());
        let path = [step("n"), Step::Index(0), Step::Index(7), step("x-1")];
        assert_eq!(expr.inputs().next().unwrap().path.0, path);
    }

    #[test]
    fn the_path_of_a_build_is_found_where_a_string_mentions_it() {
        let hash = "0123456789abcdfghijklmnpqrsvwxyz";
        let other = "zyxwvsrqpnmlkjihgfdcba9876543210";
        let path = |config: &str, output: Option<&str>| {
            let output = DerivationOutput {
                drv: format!("/nix/store/{other}-image.drv"),
                output: output.map(str::to_owned),
            };
            mentioned_path(&self::config(config), &output)
        };
        let image = format!("/nix/store/{hash}-image");
        let text = |text: &str| format!(r#"{{"a":["x","{text}"]}}"#);
        let template = format!(
            r#"{{"__derived":{{"inputs":["p.t.a.id"],"refs":[{{"resource":"p.t.a","path":["id"]}}],
                "template":["--x={image}/",{{"__ref":{{"resource":"p.t.a","path":["id"]}}}}]}}}}"#
        );
        let table = [
            (
                text(&format!("run {image}/bin/x")),
                None,
                Some(image.clone()),
            ),
            (text(&image), Some("out"), Some(image.clone())),
            (
                text(&format!("{image}-dev/x")),
                Some("dev"),
                Some(format!("{image}-dev")),
            ),
            (text(&format!("{image}-dev/x")), None, None),
            (text(&format!("{image}r/x")), None, None),
            (text("/nix/store/short"), None, None),
            (text("/nix/store/ü-image"), None, None),
            (format!(r#"{{"a":{template}}}"#), None, Some(image.clone())),
        ];
        for (config, output, expected) in table {
            assert_eq!(path(&config, output), expected, "{config}");
        }
    }
}

//! What differs in an object that a block describes.

use serde_json::Value as Json;

use super::diff::{Diff, Op, What, diff, elements, leaf, names, whole};
use super::pair::Pair;
use super::text::quoted;
use crate::json::{BlockShape, Nesting, Shape};

/// One block.
#[derive(Debug)]
pub(super) struct BlockDiff {
    pub(super) op: Op,
    pub(super) body: BlockBody,
    pub(super) replaces: bool,
}

/// What is in a block.
#[derive(Debug)]
pub(super) enum BlockBody {
    /// Attributes by name, and blocks by type and label.
    Parts {
        attributes: Vec<(String, Diff)>,
        blocks: Vec<(String, BlockDiff)>,
    },
    /// Something that is not shown.
    Sensitive,
    /// Something that is not known yet.
    Unknown,
}

/// What differs in an object that a block describes.
pub(super) fn block_diff(pair: &Pair<'_>, shape: &BlockShape) -> BlockDiff {
    let attribute = |name: String| {
        let of = shape.attributes.get(&*name).unwrap_or(&Shape::Plain);
        let diff = diff(&pair.member(&name).without_null(), of)?;
        Some((name, diff))
    };
    let attributes: Vec<(String, Diff)> = names(pair)
        .into_iter()
        .filter(|name| !shape.blocks.contains_key(&**name))
        .filter_map(attribute)
        .collect();
    let blocks: Vec<(String, BlockDiff)> = shape
        .blocks
        .iter()
        .flat_map(|(name, (nesting, shape))| {
            nested_blocks(name, *nesting, &pair.member(name).without_null(), shape)
        })
        .collect();
    let ops = attributes
        .iter()
        .map(|(_, d)| d.op)
        .chain(blocks.iter().map(|(_, b)| b.op));
    let op = whole(pair, ops);
    BlockDiff {
        op,
        body: BlockBody::Parts { attributes, blocks },
        replaces: pair.replaces(),
    }
}

fn nested_blocks(
    name: &str,
    nesting: Nesting,
    pair: &Pair<'_>,
    shape: &BlockShape,
) -> Vec<(String, BlockDiff)> {
    if pair.is_nothing() {
        return Vec::new();
    }
    if pair.is_sensitive() || pair.is_unknown() {
        let body = if pair.is_sensitive() {
            BlockBody::Sensitive
        } else {
            BlockBody::Unknown
        };
        let diff = leaf(pair, What::Sensitive { note: None });
        let is_empty = |v: Option<&Json>| v.and_then(Json::as_array).is_none_or(Vec::is_empty);
        if is_empty(pair.before) && is_empty(pair.after) && matches!(body, BlockBody::Sensitive) {
            return Vec::new();
        }
        let block = BlockDiff {
            op: diff.op,
            body,
            replaces: diff.replaces,
        };
        return vec![(name.to_owned(), block)];
    }
    match nesting {
        Nesting::Single | Nesting::Group => {
            let block = block_diff(pair, shape);
            let is_empty = matches!(&block.body, BlockBody::Parts { attributes, blocks } if attributes.is_empty() && blocks.is_empty());
            if nesting == Nesting::Group && is_empty {
                return Vec::new();
            }
            vec![(name.to_owned(), block)]
        }
        Nesting::List | Nesting::Set => elements(pair, nesting == Nesting::Set)
            .into_iter()
            .map(|(i, j)| (name.to_owned(), element_block(&pair.item(i, j), shape)))
            .collect(),
        Nesting::Map => names(pair)
            .into_iter()
            .map(|key| {
                let label = format!("{name} {}", quoted(&key));
                (label, element_block(&pair.member(&key), shape))
            })
            .collect(),
    }
}

fn element_block(pair: &Pair<'_>, shape: &BlockShape) -> BlockDiff {
    let mut block = block_diff(&pair.clone().without_null(), shape);
    if pair.is_unknown() {
        block.body = BlockBody::Unknown;
    } else if pair.is_sensitive() {
        block.body = BlockBody::Sensitive;
    }
    block.replaces = pair.replaces();
    block
}

//! What is known about unknown values, as the payload of a MessagePack extension.

use unicode_segmentation::UnicodeSegmentation;

use super::decode::read_number;
use super::encode::write_number;
use super::reader::{Integer, Reader};
use super::writer::Writer;
use crate::value::error::DecodeErrorKind;
use crate::value::text::nfc;
use crate::value::{Bound, Refinement, Type, Unknown, Value};

type Result<T> = std::result::Result<T, DecodeErrorKind>;

/// Extension code of an unknown value with refinements.
const REFINED: i8 = 12;
/// Longest payload a reader accepts.
const MAX_PAYLOAD: usize = 1024;
/// Longest prefix that is written whole, in bytes; what is cut is cut to less.
const MAX_PREFIX: usize = 256;

const NULLNESS: u64 = 1;
const PREFIX: u64 = 2;
const MIN: u64 = 3;
const MAX: u64 = 4;
const MIN_LENGTH: u64 = 5;
const MAX_LENGTH: u64 = 6;

/// Writes an unknown value; of a `dynamic` one nothing more is ever known.
pub(super) fn write(unknown: &Unknown, out: &mut Writer) {
    let Refinement {
        not_null,
        prefix,
        min,
        max,
        min_length,
        max_length,
    } = &unknown.refinement;
    let mut body = Writer::default();
    let mut count = 0;
    let mut key = |body: &mut Writer, key| {
        count += 1;
        body.uint(key);
    };
    if *not_null && unknown.ty != Type::Dynamic {
        key(&mut body, NULLNESS);
        body.bool(false);
    }
    match unknown.ty {
        Type::Number => {
            for (code, bound) in [(MIN, min), (MAX, max)] {
                if let Some(bound) = bound.as_ref().filter(|b| !b.value.is_infinite()) {
                    key(&mut body, code);
                    body.array(2);
                    write_number(&bound.value, &mut body);
                    body.bool(bound.inclusive);
                }
            }
        }
        Type::String => {
            if let Some(prefix) = prefix.as_deref().map(shorten).filter(|p| !p.is_empty()) {
                key(&mut body, PREFIX);
                body.str(prefix);
            }
        }
        Type::List(_) | Type::Set(_) | Type::Map(_) => {
            if let Some(n) = min_length.filter(|n| *n > 0) {
                key(&mut body, MIN_LENGTH);
                body.uint(n);
            }
            if let Some(n) = max_length {
                key(&mut body, MAX_LENGTH);
                body.uint(*n);
            }
        }
        _ => {}
    }
    let mut payload = Writer::default();
    payload.map(count);
    payload.0.append(&mut body.0);
    // Numbers of absurd length are not worth refusing the value for.
    if count == 0 || payload.0.len() > MAX_PAYLOAD {
        out.ext(0, &[0]);
    } else {
        out.ext(REFINED, &payload.0);
    }
}

/// Cuts a long prefix at a place where what follows cannot change the last character.
fn shorten(prefix: &str) -> &str {
    if prefix.len() <= MAX_PREFIX {
        return prefix;
    }
    let end = (0..MAX_PREFIX).rev().find(|i| prefix.is_char_boundary(*i));
    let cut = &prefix[..end.unwrap_or(0)];
    match cut.grapheme_indices(true).next_back() {
        Some((last, _)) => &cut[..last],
        None => cut,
    }
}

/// Reads an extension: whatever its code, it is an unknown value, or one that what is known about it decides.
pub(super) fn read(code: i8, payload: &[u8], ty: &Type) -> Result<Value> {
    if payload.len() > MAX_PAYLOAD {
        return Err(DecodeErrorKind::Refinement("longer than 1024 bytes"));
    }
    if payload.len() <= 1 || code != REFINED || *ty == Type::Dynamic {
        return Ok(Value::unknown(ty.clone()));
    }
    let mut input = Reader(payload);
    let not_a_map = DecodeErrorKind::Refinement("not a map");
    let mut found = Found::default();
    let marker = input.marker()?;
    for _ in 0..input.map_len(marker)?.ok_or(not_a_map)? {
        read_entry(&mut input, ty, &mut found)?;
    }
    check(&found)?;
    let ty = ty.clone();
    if found.null {
        return Ok(Value::Null(ty));
    }
    let refinement = found.refinement;
    Ok(Unknown { ty, refinement }.decided())
}

#[derive(Default)]
struct Found {
    refinement: Refinement,
    null: bool,
}

fn read_entry(input: &mut Reader<'_>, ty: &Type, found: &mut Found) -> Result<()> {
    let bad = |what| Err(DecodeErrorKind::Refinement(what));
    let marker = input.marker()?;
    let Some(key) = input.integer(marker)? else {
        return bad("a key is not an integer");
    };
    let key = match key {
        Integer::Signed(n) => u64::try_from(n).unwrap_or(u64::MAX),
        Integer::Unsigned(n) => n,
    };
    let refinement = &mut found.refinement;
    match key {
        NULLNESS => match input.marker()? {
            rmp::Marker::True => found.null = true,
            rmp::Marker::False => refinement.not_null = true,
            _ => return bad("nullness is not a bool"),
        },
        PREFIX if *ty != Type::String => return bad("a prefix of what is not a string"),
        PREFIX => {
            let marker = input.marker()?;
            match input.text(marker)? {
                Some(prefix) => refinement.prefix = Some(nfc(&prefix).into()),
                None => return bad("a prefix is not a string"),
            }
        }
        MIN | MAX if *ty != Type::Number => return bad("bounds of what is not a number"),
        MIN => refinement.min = read_bound(input)?,
        MAX => refinement.max = read_bound(input)?,
        MIN_LENGTH | MAX_LENGTH if !ty.is_collection() => {
            return bad("a length of what is not a collection");
        }
        MIN_LENGTH => refinement.min_length = Some(read_length(input)?).filter(|n| *n > 0),
        MAX_LENGTH => refinement.max_length = Some(read_length(input)?),
        _ => input.skip()?,
    }
    Ok(())
}

/// An infinite bound says nothing.
fn read_bound(input: &mut Reader<'_>) -> Result<Option<Bound>> {
    let bad = DecodeErrorKind::Refinement("a bound is not a number and a bool");
    let marker = input.marker()?;
    if input.array_len(marker)? != Some(2) {
        return Err(bad);
    }
    let marker = input.marker()?;
    let Some(value) = read_number(input, marker)? else {
        return Err(bad);
    };
    let inclusive = match input.marker()? {
        rmp::Marker::True => true,
        rmp::Marker::False => false,
        _ => return Err(bad),
    };
    Ok((!value.is_infinite()).then_some(Bound { value, inclusive }))
}

fn read_length(input: &mut Reader<'_>) -> Result<u64> {
    let bad = DecodeErrorKind::Refinement("a length is not a whole number");
    let marker = input.marker()?;
    match input.integer(marker)? {
        Some(Integer::Signed(n)) => u64::try_from(n).map_err(|_| bad),
        Some(Integer::Unsigned(n)) => Ok(n),
        None => Err(bad),
    }
}

fn check(found: &Found) -> Result<()> {
    let r = &found.refinement;
    if found.null && r.not_null {
        return Err(DecodeErrorKind::Refinement("both null and not null"));
    }
    if let (Some(min), Some(max)) = (&r.min, &r.max)
        && (min.value > max.value || min.value == max.value && !(min.inclusive && max.inclusive))
    {
        return Err(DecodeErrorKind::Refinement(
            "no number lies within the bounds",
        ));
    }
    if let (Some(min), Some(max)) = (r.min_length, r.max_length)
        && min > max
    {
        return Err(DecodeErrorKind::Refinement(
            "no length lies within the bounds",
        ));
    }
    Ok(())
}

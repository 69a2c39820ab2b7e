//! Hostile input: whatever the bytes, the decoders give a value or an error, quickly, and what they accept they can write.

use std::time::Instant;

use nivis::value::json::{from_json, to_json};
use nivis::value::msgpack::{decode, encode};
use nivis::value::{Type, Value};
use proptest::prelude::*;

use super::arbitrary::{any_type, value_of};
use super::compare::runner;
use crate::support::damage::{Damage, next, patience};

#[test]
fn decoders_survive_anything() {
    let mut runner = runner(1);
    let typed = any_type().prop_flat_map(|ty| (value_of(&ty), Just(ty)));
    let harm = prop::collection::vec(Damage::arbitrary(), 0..6);
    let noise = prop::collection::vec(any::<u8>(), 0..64);
    let (start, patience) = (Instant::now(), patience());
    let mut accepted = 0;
    while start.elapsed() < patience {
        let (value, ty): (Value, Type) = next(&mut runner, &typed);
        let bytes = encode(&value, &ty).unwrap();
        let text = to_json(&value, &ty).unwrap_or_default().into_bytes();
        for _ in 0..50 {
            let harms = next(&mut runner, &harm);
            let damaged = |input: &[u8]| {
                let mut input = input.to_vec();
                for damage in &harms {
                    damage.apply(&mut input);
                }
                input
            };
            accepted += usize::from(try_msgpack(&damaged(&bytes), &ty));
            try_json(&damaged(&text), &ty);
            try_msgpack(&next(&mut runner, &noise), &ty);
            // The input may say what it is itself.
            try_msgpack(&damaged(&bytes), &Type::Dynamic);
            let _ = Type::from_json(&damaged(ty.to_json().as_bytes()));
        }
    }
    assert!(
        accepted > 100,
        "only {accepted} inputs were good: the damage is too great"
    );
}

/// Whether it was a value.
fn try_msgpack(bytes: &[u8], ty: &Type) -> bool {
    let Ok(value) = decode(bytes, ty) else {
        return false;
    };
    assert!(value.conforms_to(ty), "{bytes:02x?} as {ty}");
    let written = encode(&value, ty).unwrap_or_else(|e| panic!("{bytes:02x?} as {ty}: {e}"));
    let again = decode(&written, ty).unwrap_or_else(|e| panic!("{bytes:02x?} as {ty}: {e}"));
    assert_eq!(
        encode(&again, ty).as_ref(),
        Ok(&written),
        "{bytes:02x?} as {ty}"
    );
    true
}

fn try_json(text: &[u8], ty: &Type) {
    if let Ok(value) = from_json(text, ty) {
        assert!(value.conforms_to(ty));
        // Only infinities, which text may spell, are read but not written.
        if let Ok(written) = to_json(&value, ty) {
            assert_eq!(from_json(written.as_bytes(), ty), Ok(value));
        }
    }
}

//! MessagePack primitives, read from borrowed bytes.

use std::borrow::Cow;

use rmp::Marker;

use crate::value::error::DecodeErrorKind;

/// The input ends too early: all that can go wrong here.
pub(super) struct Truncated;

impl From<Truncated> for DecodeErrorKind {
    fn from(Truncated: Truncated) -> Self {
        Self::Truncated
    }
}

type Result<T> = std::result::Result<T, Truncated>;

/// What is left of the input. After a marker comes what belongs to it.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn marker(&mut self) -> Result<Marker> {
        let [byte] = self.array()?;
        Ok(Marker::from_u8(byte))
    }

    fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n).ok_or(Truncated)?;
        self.0 = tail;
        Ok(head)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk().ok_or(Truncated)?;
        self.0 = tail;
        Ok(*head)
    }

    fn len(&mut self, width: Width) -> Result<usize> {
        Ok(match width {
            Width::One => self.array().map(u8::from_be_bytes)?.into(),
            Width::Two => self.array().map(u16::from_be_bytes)?.into(),
            Width::Four => self.array().map(u32::from_be_bytes)? as usize,
        })
    }

    /// Text or binary as text, bytes that are not UTF-8 replaced; `None` if the marker is of neither.
    pub(super) fn text(&mut self, marker: Marker) -> Result<Option<Cow<'a, str>>> {
        Ok(self.raw(marker)?.map(|raw| match str::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(raw),
        }))
    }

    /// Text or binary; `None` if the marker is of neither.
    pub(super) fn raw(&mut self, marker: Marker) -> Result<Option<&'a [u8]>> {
        let len = match marker {
            Marker::FixStr(n) => n.into(),
            Marker::Str8 | Marker::Bin8 => self.len(Width::One)?,
            Marker::Str16 | Marker::Bin16 => self.len(Width::Two)?,
            Marker::Str32 | Marker::Bin32 => self.len(Width::Four)?,
            _ => return Ok(None),
        };
        self.bytes(len).map(Some)
    }

    /// The length of an array; `None` if the marker is of none.
    pub(super) fn array_len(&mut self, marker: Marker) -> Result<Option<usize>> {
        Ok(Some(match marker {
            Marker::FixArray(n) => n.into(),
            Marker::Array16 => self.len(Width::Two)?,
            Marker::Array32 => self.len(Width::Four)?,
            _ => return Ok(None),
        }))
    }

    /// The number of entries of a map; `None` if the marker is of none.
    pub(super) fn map_len(&mut self, marker: Marker) -> Result<Option<usize>> {
        Ok(Some(match marker {
            Marker::FixMap(n) => n.into(),
            Marker::Map16 => self.len(Width::Two)?,
            Marker::Map32 => self.len(Width::Four)?,
            _ => return Ok(None),
        }))
    }

    /// Code and payload of an extension; `None` if the marker is of none.
    pub(super) fn ext(&mut self, marker: Marker) -> Result<Option<(i8, &'a [u8])>> {
        let len = match marker {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => self.len(Width::One)?,
            Marker::Ext16 => self.len(Width::Two)?,
            Marker::Ext32 => self.len(Width::Four)?,
            _ => return Ok(None),
        };
        let code = i8::from_be_bytes(self.array()?);
        Ok(Some((code, self.bytes(len)?)))
    }

    /// An integer of any width; `None` if the marker is of none.
    pub(super) fn integer(&mut self, marker: Marker) -> Result<Option<Integer>> {
        Ok(Some(Integer::Signed(match marker {
            Marker::FixPos(n) => n.into(),
            Marker::FixNeg(n) => n.into(),
            Marker::U8 => u8::from_be_bytes(self.array()?).into(),
            Marker::U16 => u16::from_be_bytes(self.array()?).into(),
            Marker::U32 => u32::from_be_bytes(self.array()?).into(),
            Marker::U64 => return Ok(Some(Integer::Unsigned(u64::from_be_bytes(self.array()?)))),
            Marker::I8 => i8::from_be_bytes(self.array()?).into(),
            Marker::I16 => i16::from_be_bytes(self.array()?).into(),
            Marker::I32 => i32::from_be_bytes(self.array()?).into(),
            Marker::I64 => i64::from_be_bytes(self.array()?),
            _ => return Ok(None),
        })))
    }

    /// Passes over one value of any kind, without recursion.
    pub(super) fn skip(&mut self) -> Result<()> {
        let mut values: u64 = 1;
        while values > 0 {
            values -= 1;
            let marker = self.marker()?;
            if let Some(n) = self.array_len(marker)? {
                values = values.saturating_add(n as u64);
            } else if let Some(n) = self.map_len(marker)? {
                values = values.saturating_add(2 * n as u64);
            } else if self.raw(marker)?.is_none()
                && self.ext(marker)?.is_none()
                && self.integer(marker)?.is_none()
            {
                match marker {
                    Marker::F32 => drop(self.array::<4>()?),
                    Marker::F64 => drop(self.array::<8>()?),
                    // Null and truth values are their marker.
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// How many bytes a length takes.
#[derive(Clone, Copy)]
enum Width {
    One,
    Two,
    Four,
}

/// An integer as it is on the wire.
pub(super) enum Integer {
    Signed(i64),
    Unsigned(u64),
}

/// What a marker stands for, in words for an error message.
pub(super) fn describe(marker: Marker) -> &'static str {
    match marker {
        Marker::Null => "null",
        Marker::True | Marker::False => "a bool",
        Marker::F32 | Marker::F64 => "a float",
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => "a string",
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => "binary data",
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => "an array",
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => "a map",
        Marker::Reserved => "a reserved code",
        Marker::FixExt1
        | Marker::FixExt2
        | Marker::FixExt4
        | Marker::FixExt8
        | Marker::FixExt16
        | Marker::Ext8
        | Marker::Ext16
        | Marker::Ext32 => "an extension",
        _ => "an integer",
    }
}

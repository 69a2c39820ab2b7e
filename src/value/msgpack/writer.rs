//! MessagePack primitives, written in their shortest form.

use rmp::Marker;

/// Bytes under construction.
#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

/// Markers of the three header widths.
type Widths = (Marker, Marker, Marker);

impl Writer {
    pub(super) fn marker(&mut self, marker: Marker) {
        self.0.push(marker.to_u8());
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.marker(if value { Marker::True } else { Marker::False });
    }

    pub(super) fn float(&mut self, value: f64) {
        self.marker(Marker::F64);
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn int(&mut self, value: i64) {
        if let Ok(value) = u64::try_from(value) {
            self.uint(value);
        } else if let Ok(value @ -32..) = i8::try_from(value) {
            self.marker(Marker::FixNeg(value));
        } else if let Ok(value) = i8::try_from(value) {
            self.marker(Marker::I8);
            self.0.extend_from_slice(&value.to_be_bytes());
        } else if let Ok(value) = i16::try_from(value) {
            self.marker(Marker::I16);
            self.0.extend_from_slice(&value.to_be_bytes());
        } else if let Ok(value) = i32::try_from(value) {
            self.marker(Marker::I32);
            self.0.extend_from_slice(&value.to_be_bytes());
        } else {
            self.marker(Marker::I64);
            self.0.extend_from_slice(&value.to_be_bytes());
        }
    }

    pub(super) fn uint(&mut self, value: u64) {
        match value {
            #[expect(clippy::cast_possible_truncation, reason = "checked by the pattern")]
            0..=0x7f => self.marker(Marker::FixPos(value as u8)),
            0x80..=0xffff_ffff => {
                self.sized(value, (Marker::U8, Marker::U16, Marker::U32));
            }
            _ => {
                self.marker(Marker::U64);
                self.0.extend_from_slice(&value.to_be_bytes());
            }
        }
    }

    pub(super) fn str(&mut self, text: &str) {
        match u8::try_from(text.len()) {
            Ok(n @ ..=31) => self.marker(Marker::FixStr(n)),
            _ => self.len(text.len(), (Marker::Str8, Marker::Str16, Marker::Str32)),
        }
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(super) fn bin(&mut self, bytes: &[u8]) {
        self.len(bytes.len(), (Marker::Bin8, Marker::Bin16, Marker::Bin32));
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn array(&mut self, len: usize) {
        match u8::try_from(len) {
            Ok(n @ ..=15) => self.marker(Marker::FixArray(n)),
            // There is no 8-bit form.
            _ => self.len16(len, Marker::Array16, Marker::Array32),
        }
    }

    pub(super) fn map(&mut self, len: usize) {
        match u8::try_from(len) {
            Ok(n @ ..=15) => self.marker(Marker::FixMap(n)),
            _ => self.len16(len, Marker::Map16, Marker::Map32),
        }
    }

    pub(super) fn ext(&mut self, code: i8, payload: &[u8]) {
        match payload.len() {
            1 => self.marker(Marker::FixExt1),
            2 => self.marker(Marker::FixExt2),
            4 => self.marker(Marker::FixExt4),
            8 => self.marker(Marker::FixExt8),
            16 => self.marker(Marker::FixExt16),
            n => self.len(n, (Marker::Ext8, Marker::Ext16, Marker::Ext32)),
        }
        self.0.extend_from_slice(&code.to_be_bytes());
        self.0.extend_from_slice(payload);
    }

    fn len(&mut self, len: usize, widths: Widths) {
        self.sized(len as u64, widths);
    }

    fn len16(&mut self, len: usize, two: Marker, four: Marker) {
        // Lengths of one byte need the two-byte form here.
        self.sized(len as u64, (two, two, four));
    }

    /// A marker and an unsigned number of at most four bytes. No value in memory here has more than 2^32 elements.
    #[expect(clippy::cast_possible_truncation, reason = "checked by the patterns")]
    fn sized(&mut self, n: u64, (one, two, four): Widths) {
        match n {
            0..=0xff if one != two => {
                self.marker(one);
                self.0.push(n as u8);
            }
            0..=0xffff => {
                self.marker(two);
                self.0.extend_from_slice(&(n as u16).to_be_bytes());
            }
            _ => {
                self.marker(four);
                self.0.extend_from_slice(&(n as u32).to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(write: impl Fn(&mut Writer)) -> Vec<u8> {
        let mut w = Writer::default();
        write(&mut w);
        w.0
    }

    #[test]
    fn integers() {
        for (n, expected) in [
            (0, &[0x00][..]),
            (127, &[0x7f]),
            (128, &[0xcc, 0x80]),
            (255, &[0xcc, 0xff]),
            (256, &[0xcd, 0x01, 0x00]),
            (65535, &[0xcd, 0xff, 0xff]),
            (65536, &[0xce, 0, 1, 0, 0]),
            (1 << 32, &[0xcf, 0, 0, 0, 1, 0, 0, 0, 0]),
            (-1, &[0xff]),
            (-32, &[0xe0]),
            (-33, &[0xd0, 0xdf]),
            (-128, &[0xd0, 0x80]),
            (-129, &[0xd1, 0xff, 0x7f]),
            (-32769, &[0xd2, 0xff, 0xff, 0x7f, 0xff]),
            (
                -2_147_483_649,
                &[0xd3, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff],
            ),
        ] {
            assert_eq!(bytes(|w| w.int(n)), expected, "{n}");
        }
    }

    #[test]
    fn headers() {
        let head = |all: Vec<u8>, n: usize| all[..n].to_vec();
        assert_eq!(bytes(|w| w.array(15)), [0x9f]);
        assert_eq!(bytes(|w| w.array(16)), [0xdc, 0, 16]);
        assert_eq!(bytes(|w| w.array(65536)), [0xdd, 0, 1, 0, 0]);
        assert_eq!(bytes(|w| w.map(15)), [0x8f]);
        assert_eq!(bytes(|w| w.map(255)), [0xde, 0, 255]);
        assert_eq!(bytes(|w| w.map(65536)), [0xdf, 0, 1, 0, 0]);
        assert_eq!(head(bytes(|w| w.str(&"x".repeat(31))), 1), [0xbf]);
        assert_eq!(head(bytes(|w| w.str(&"x".repeat(32))), 2), [0xd9, 32]);
        assert_eq!(head(bytes(|w| w.str(&"x".repeat(256))), 3), [0xda, 1, 0]);
        assert_eq!(
            head(bytes(|w| w.str(&"x".repeat(65536))), 5),
            [0xdb, 0, 1, 0, 0]
        );
        assert_eq!(head(bytes(|w| w.bin(&[0; 3])), 2), [0xc4, 3]);
        assert_eq!(bytes(|w| w.ext(12, &[7])), [0xd4, 12, 7]);
        assert_eq!(bytes(|w| w.ext(12, &[7; 3])), [0xc7, 3, 12, 7, 7, 7]);
        assert_eq!(head(bytes(|w| w.ext(12, &[7; 300])), 4), [0xc8, 1, 44, 12]);
    }
}

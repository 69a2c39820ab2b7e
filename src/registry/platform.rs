//! Operating system and processor, in the words of provider registries.

use std::fmt;
use std::str::FromStr;

/// What a package runs on, such as `linux_amd64`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    /// Operating system, such as `linux`, `darwin`.
    pub os: String,
    /// Processor, such as `amd64`, `arm64`.
    pub arch: String,
}

/// A text is no platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no platform of the form linux_amd64")]
pub struct PlatformError(String);

impl Platform {
    /// This machine's.
    pub fn current() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            os => os,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            arch => arch,
        };
        Self {
            os: os.to_owned(),
            arch: arch.to_owned(),
        }
    }
}

impl FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Self, PlatformError> {
        let plain = |part: &str| {
            let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
            !part.is_empty() && part.bytes().all(fits)
        };
        match text.split_once('_') {
            Some((os, arch)) if plain(os) && plain(arch) => Ok(Self {
                os: os.to_owned(),
                arch: arch.to_owned(),
            }),
            _ => Err(PlatformError(text.to_owned())),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_read() {
        let here = Platform::current();
        assert_eq!(here.to_string().parse(), Ok(here));
        for text in [
            "",
            "linux",
            "linux_",
            "_amd64",
            "linux_amd64_x",
            "Linux_amd64",
            "a/b_c",
        ] {
            assert!(text.parse::<Platform>().is_err(), "{text}");
        }
    }
}

//! Points of the program at which a test lets it be killed, sends it a signal, or lets an operation fail.
//!
//! A point is named by an operation and what it works on: `sync:state.json`, `send:ApplyResourceChange`. Points exist only with
//! the feature `test-fakes`, which no package enables; without it this module is nothing, so that what users run cannot be
//! told to fail.

use std::io;
use std::path::Path;

/// The point before an operation on a file.
pub(super) fn before(operation: &str, path: &Path) -> io::Result<()> {
    point(operation, || {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    })
}

/// No point.
#[cfg(not(feature = "test-fakes"))]
#[expect(clippy::unnecessary_wraps, reason = "it fails where points exist")]
#[inline]
pub fn point(_operation: &str, _subject: impl FnOnce() -> String) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "test-fakes")]
pub use armed::{arm, point};

#[cfg(feature = "test-fakes")]
mod armed {
    use std::fs::{File, OpenOptions};
    use std::io::{self, Write as _};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    const EIO: i32 = 5;
    const ENOSPC: i32 = 28;

    static ORDER: OnceLock<Order> = OnceLock::new();

    #[derive(Debug)]
    enum Order {
        /// Write the names of all points that are passed to this file.
        Trace(File),
        /// Do this at one point.
        Disturb(Disturb),
    }

    #[derive(Debug)]
    struct Disturb {
        effect: Effect,
        /// The point's name; a `*` at its end is any end.
        point: String,
        /// Which passage of it, from 1.
        nth: usize,
        /// At all later ones as well.
        lasting: bool,
        passed: AtomicUsize,
    }

    #[derive(Clone, Copy, Debug)]
    enum Effect {
        Signal(Signal),
        Fail(i32),
    }

    /// Takes an order, once per process: `<effect>@<point>#<n>`, with `+` behind it for all later passages too. Effects are
    /// `kill`, `int`, `term`, `hup` (signals to this process), `full` (no space is left) and `broken` (an error of the
    /// device). `trace@<file>` has the names of all points written to a file instead.
    pub fn arm(order: &str) -> Result<(), String> {
        let parsed = parse(order).ok_or_else(|| format!("{order:?} is no fault"))?;
        ORDER.set(parsed).map_err(|_| "armed twice".to_owned())
    }

    fn parse(order: &str) -> Option<Order> {
        let (effect, place) = order.split_once('@')?;
        if effect == "trace" {
            let file = OpenOptions::new().create(true).append(true).open(place);
            return file.ok().map(Order::Trace);
        }
        let effect = match effect {
            "kill" => Effect::Signal(Signal::KILL),
            "int" => Effect::Signal(Signal::INT),
            "term" => Effect::Signal(Signal::TERM),
            "hup" => Effect::Signal(Signal::HUP),
            "full" => Effect::Fail(ENOSPC),
            "broken" => Effect::Fail(EIO),
            _ => return None,
        };
        let (point, nth) = place.rsplit_once('#')?;
        Some(Order::Disturb(Disturb {
            effect,
            point: point.to_owned(),
            nth: nth.trim_end_matches('+').parse().ok()?,
            lasting: nth.ends_with('+'),
            passed: AtomicUsize::new(0),
        }))
    }

    /// A point is passed: what was ordered for it happens.
    pub fn point(operation: &str, subject: impl FnOnce() -> String) -> io::Result<()> {
        let Some(order) = ORDER.get() else {
            return Ok(());
        };
        let name = format!("{operation}:{}", subject());
        match order {
            Order::Trace(file) => {
                let mut file = file;
                file.write_all(format!("{name}\n").as_bytes())
            }
            Order::Disturb(disturb) => disturb.pass(&name),
        }
    }

    impl Disturb {
        fn pass(&self, name: &str) -> io::Result<()> {
            let fits = match self.point.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => self.point == name,
            };
            if !fits {
                return Ok(());
            }
            let passed = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
            if passed != self.nth && !(self.lasting && passed > self.nth) {
                return Ok(());
            }
            match self.effect {
                Effect::Signal(signal) => Ok(kill_process(getpid(), signal)?),
                Effect::Fail(errno) => Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn disturb(order: &str) -> Disturb {
            match parse(order) {
                Some(Order::Disturb(disturb)) => disturb,
                other => panic!("{order}: {other:?}"),
            }
        }

        #[test]
        fn an_operation_fails_at_the_passage_that_was_named() {
            let once = disturb("full@sync:state.json#2");
            let lasting = disturb("broken@sync:*#2+");
            for (name, fails, fails_too) in [
                ("sync:state.json", false, false),
                ("sync:other", false, true),
                ("sync:state.json", true, true),
                ("sync:state.json", false, true),
            ] {
                assert_eq!(once.pass(name).is_err(), fails, "{name}");
                assert_eq!(lasting.pass(name).is_err(), fails_too, "{name}");
            }
        }

        #[test]
        fn what_is_no_order_is_refused() {
            for order in ["", "full", "full@x", "full@x#", "full@x#y", "melt@x#1"] {
                assert!(parse(order).is_none(), "{order}");
            }
        }
    }
}

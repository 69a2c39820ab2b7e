//! Several installations side by side, a few at a time.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Lets so many through at once.
pub(super) struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

/// A place behind the gate, free again when dropped.
pub(super) struct Turn<'a>(&'a Gate);

impl Gate {
    pub(super) fn new(places: usize) -> Self {
        Self {
            free: Mutex::new(places),
            left: Condvar::new(),
        }
    }

    /// Waits for a place.
    pub(super) fn enter(&self) -> Turn<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.left.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let gate = self.0;
        *gate.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        gate.left.notify_one();
    }
}

/// What `f` gives for each item, each called on a thread of its own.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(|| f(item))).collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn so_many_at_once_and_no_more() {
        let gate = Gate::new(3);
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items: Vec<usize> = (0..12).collect();
        let doubled = in_parallel(&items, |item| {
            let _turn = gate.enter();
            let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            inside.fetch_sub(1, Ordering::SeqCst);
            item * 2
        });
        assert_eq!(doubled, (0..12).map(|i| i * 2).collect::<Vec<_>>());
        assert_eq!(most.into_inner(), 3);
    }
}

//! A directed acyclic graph and a bounded parallel walk over it.

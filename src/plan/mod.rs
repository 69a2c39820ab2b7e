//! From configuration and state to changes and the order to carry them out in.

//! One function per thing a user can ask for.

//! The Nix command line: evaluate, realise, read its log.

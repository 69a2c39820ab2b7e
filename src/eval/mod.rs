//! Evaluate in phases until the outputs ledger adds nothing.

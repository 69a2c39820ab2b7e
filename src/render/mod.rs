//! Text for people, drawn from `json`.

//! Carry out a plan step by step.

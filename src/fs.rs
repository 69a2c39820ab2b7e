//! Read files and replace them atomically, lock them; the one place that touches the file system.

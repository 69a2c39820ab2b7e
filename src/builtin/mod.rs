//! The provider inside nivis, served over the real protocol.

//! What the loopback servers are.

mod kubernetes;
mod openstack;
mod pages;
mod vault;

pub(super) use kubernetes::Kubernetes;
pub(super) use openstack::OpenStack;
pub(super) use pages::Pages;
pub(super) use vault::Vault;

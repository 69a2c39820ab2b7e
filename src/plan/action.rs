//! What is to be done with one object.

/// What happens to a resource instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Nothing.
    NoOp,
    /// A data source is read, now or during apply.
    Read,
    /// A new object is made.
    Create,
    /// The object is changed in place.
    Update,
    /// Replacement: the object is destroyed, then a new one made.
    DeleteThenCreate,
    /// Replacement: a new object is made, then the old one destroyed.
    CreateThenDelete,
    /// The object is destroyed.
    Delete,
    /// The object stays, but is no longer in the state.
    Forget,
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoOp => "leave it as it is",
            Self::Read => "read it",
            Self::Create => "create it",
            Self::Update => "update it in place",
            Self::DeleteThenCreate => "destroy and create it again",
            Self::CreateThenDelete => "create a new one, then destroy it",
            Self::Delete => "destroy it",
            Self::Forget => "forget it",
        })
    }
}

impl Action {
    /// Whether a new object takes the place of an old one.
    pub fn is_replace(self) -> bool {
        matches!(self, Self::DeleteThenCreate | Self::CreateThenDelete)
    }

    /// Whether an object is destroyed.
    pub fn destroys(self) -> bool {
        self.is_replace() || self == Self::Delete
    }
}

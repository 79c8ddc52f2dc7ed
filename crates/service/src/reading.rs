//! How exactly a service takes the contract.

/// How exactly a service takes the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Ignores unknown fields and parameters, as services do that may add fields later.
    #[default]
    Tolerant,
    /// Refuses unknown fields and parameters.
    Strict,
    /// Takes only what the contract shows, and returns only what the contract shows.
    Literal,
}

impl Reading {
    /// Whether unknown fields and parameters are refused.
    pub(super) fn refuses_unknown(self) -> bool {
        self != Reading::Tolerant
    }

    pub(super) fn is_literal(self) -> bool {
        self == Reading::Literal
    }
}

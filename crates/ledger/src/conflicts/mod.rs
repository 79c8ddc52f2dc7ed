//! Requests of other runs for the same records: accepted, claimed, newer, and simultaneous ones.

pub(super) mod accepted;
mod claims;
mod handshake;
mod last_bodies;
mod newer;

pub use accepted::KeyScope;
pub use claims::{Claim, ClaimDigest, ClaimName, EarlierClaim, EarlierState, Likeness, NamePart};
pub(super) use claims::{StoredClaim, earlier_claims, insert_claims, keep_claims, wait_for_claims};
pub use handshake::Intent;
pub use newer::{NewerKeys, OtherRequest};

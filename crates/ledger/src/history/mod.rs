//! Requests of other runs for the same records: accepted, claimed, newer, and simultaneous ones. Each says what it knows about a record as
//! a [`Fact`], and [`decide`](decide::decide) says whether the record may be sent.

pub(super) mod accepted;
mod claims;
mod decide;
mod handshake;
mod identities;
mod known;
mod last_bodies;
mod newer;

pub use accepted::{KeyScope, KeyedRequest};
pub use claims::{Claim, ClaimDigest, ClaimName, EarlierClaim, EarlierState, Likeness, NamePart};
pub(super) use claims::{
    Counted, StoredClaim, counted, counting_claims, found_earlier, insert_claims, inserting_claims, keep_claims,
    looking_for_earlier, wait_for_claims, waiting_for_claims,
};
pub use decide::{Decision, Fact, Known, Policy, decide};
pub use handshake::Intent;
pub(super) use handshake::entering;
pub(super) use identities::AGE;
pub use newer::{NewerKeys, OtherRequest};

//! Parts of both web servers in this program, the embedded service and the page of `review`: connections, host names, and pages.
//!
//! Knows neither routes nor users.
//!
//! | module | purpose |
//! |---|---|
//! | [`accept`] | the accept loop over bound listeners, and a graceful stop |
//! | [`connections`] | limits of connections and of idle clients |
//! | [`hosts`] | refuses requests by foreign host names (DNS rebinding) |
//! | [`mod@page`] | pages embedded in the executable |

mod accept;
mod connections;
mod hosts;
mod page;

pub use accept::serve;
pub use hosts::{OwnHosts, Refusal};
pub use page::page;

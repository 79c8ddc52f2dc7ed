//! Looks at everything that a transfer needs, and says how to correct what is wrong.

mod access;
mod finding;
mod folders;
mod reader;

pub use finding::{Finding, Health};

use super::context::Context;

/// Examines this machine, the settings and, unless `is_offline`, the service. Changes nothing, and sends at most one request,
/// with a renewal of the token if it has expired.
pub async fn examine(context: &Context, is_offline: bool) -> Vec<Finding> {
    let mut findings = vec![reader::protections()];
    findings.push(folders::home(context));
    findings.push(folders::space(context));
    findings.push(folders::ledger(context).await);
    findings.push(access::address(context));
    findings.push(access::tokens(context));
    findings.push(access::expiry(context));
    findings.push(access::connection(context));
    if !is_offline {
        findings.extend(access::service(context).await);
    }
    findings
}

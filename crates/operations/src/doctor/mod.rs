//! Examines everything needed for a transfer, and explains how to fix problems.

mod access;
mod database;
mod finding;
mod folders;
mod reader;
mod system;

pub use database::database_risks;
pub use finding::{Finding, Health};

use futures_util::future::BoxFuture;

use super::context::Context;

/// Examines this machine, the settings and, unless `is_offline`, the service. Changes nothing, and sends at most one request,
/// plus a renewal of an expired token.
pub fn examine(context: &Context, is_offline: bool) -> BoxFuture<'_, Vec<Finding>> {
    Box::pin(async move {
        let mut findings = system::guarantees();
        findings.push(reader::protections());
        findings.push(folders::home(context));
        findings.push(folders::space(context));
        findings.push(folders::ledger(context).await);
        findings.extend(database::keeps(context).await);
        findings.push(access::address(context));
        findings.push(access::tokens(context));
        findings.push(access::expiry(context));
        findings.push(access::connection(context));
        if !is_offline {
            findings.extend(access::service(context).await);
        }
        findings
    })
}

//! The one integration binary: a module for each room of the house.

#![allow(unreachable_pub, reason = "nothing outside reads the tests")]
#![allow(clippy::unwrap_used)]
// The tests of the service run over two databases.
#![allow(clippy::duplicate_mod)]

mod allowed_calls;
mod cli;
mod containers;
mod damage;
mod docs;
mod earlier;
mod environment;
mod faults;
mod golden;
mod hostile;
mod house;
mod ledger;
mod manifests;
mod notices;
mod packaging;
mod postgres;
mod serve_load;
mod service;
mod service_on_server;
mod sheet;
#[cfg(feature = "storage")]
mod storage;
mod template_docs;
mod template_schema;
mod templates_hold;
mod typed_values;
mod view;

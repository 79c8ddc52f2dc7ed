//! A service whose lists a test changes between two exports.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::process::{Place, Sheetport};
use crate::faults::exports::number;
use crate::faults::server::{Server, answer};

const PAGE: usize = 100;

/// A service with lists. A list that is not set answers with status 400.
pub struct Lists {
    server: Server,
    entries: Arc<Mutex<BTreeMap<&'static str, Vec<String>>>>,
}

impl Lists {
    pub async fn start() -> Lists {
        let entries: Arc<Mutex<BTreeMap<&'static str, Vec<String>>>> = Arc::default();
        let shared = Arc::clone(&entries);
        let server = Server::with_probes(move |seen| {
            let name = seen.path.split(['?', '/']).find(|part| ["items", "orders", "companies"].contains(part));
            let lists = shared.lock().unwrap();
            let Some(list) = name.and_then(|name| lists.get(name)) else { return answer(400, "", "{}") };
            let page: Vec<&str> =
                list.chunks(PAGE).nth(number(seen) - 1).unwrap_or_default().iter().map(|e| &**e).collect();
            answer(200, "", &format!(r#"{{"data": [{}], "total": {}}}"#, page.join(","), list.len()))
        })
        .await;
        Lists { server, entries }
    }

    /// Replaces the entries of a list.
    pub fn set<E: Into<String>>(&self, name: &'static str, entries: impl IntoIterator<Item = E>) {
        self.entries.lock().unwrap().insert(name, entries.into_iter().map(Into::into).collect());
    }

    pub fn fail(&self, name: &'static str) {
        self.entries.lock().unwrap().remove(name);
    }

    pub fn sheetport<'a>(&self, place: &Place, args: impl IntoIterator<Item = &'a str>) -> Sheetport {
        let command = place.sheetport(args);
        command.env("SHEETPORT_BASE_URL", &self.server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    }
}

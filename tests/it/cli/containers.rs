//! What `packaging/` starts in containers, started here as processes with the same arguments and variables: a service and workers with
//! PostgreSQL, an upload through a worker, and an export of two nights. Names and addresses of the network lead to this machine; what is
//! on no volume does not outlive a process.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::items;
use super::process::{Place, Running, Sheetport, name, until};
use crate::containers::{self, Container, Variable};
use crate::postgres::Cluster;

/// Containers that run here.
struct Here {
    place: Place,
    cluster: Cluster,
    containers: Vec<Container>,
    /// Ports here by those of the containers.
    ports: BTreeMap<u64, u16>,
    /// Values of secrets that are no addresses of databases.
    secrets: BTreeMap<(String, String), String>,
}

impl Here {
    fn new(containers: Vec<Container>) -> Option<Here> {
        let cluster = Cluster::start()?;
        cluster.database("service");
        cluster.database("sheetport");
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let ports = [(8787, free()), (9187, free())].into();
        Some(Here { place: Place::new(), cluster, containers, ports, secrets: BTreeMap::new() })
    }

    fn container(&self, name: &str) -> &Container {
        self.containers.iter().find(|container| container.name == name).unwrap()
    }

    /// Returns a command in a container; the one of the container itself without arguments.
    fn command(&self, container: &str, args: &[&str]) -> Sheetport {
        let container = self.container(container);
        let own: Vec<&str> = container.args.iter().map(String::as_str).collect();
        let args = if args.is_empty() { &own } else { args };
        let args: Vec<String> = args.iter().map(|arg| self.here(container, arg)).collect();
        let mut command = self.place.sheetport(args);
        for (name, value) in &container.env {
            let value = match value {
                Variable::Is(value) => self.here(container, value),
                Variable::Secret(_, key) if key == "store" => self.cluster.address("service"),
                Variable::Secret(_, key) if key == "ledger" => self.cluster.address("sheetport"),
                Variable::Secret(secret, key) => self.secrets[&(secret.clone(), key.clone())].clone(),
            };
            command = command.env(name, &value);
        }
        if container.env.contains_key("SHEETPORT_BASE_URL") {
            // The name of the service leads to it, as in a network, and it is asked by this name.
            command = command.env("SHEETPORT_PROXY", &format!("http://127.0.0.1:{}", self.ports[&8787]));
        }
        command
    }

    /// Returns an argument or variable with what it means here.
    fn here(&self, container: &Container, text: &str) -> String {
        if let Some((_, database)) = text.split_once("@database/") {
            return self.cluster.address(database.split('?').next().unwrap());
        }
        if let Some((flag, port)) = text.split_once("=0.0.0.0:") {
            return format!("{flag}=127.0.0.1:{}", self.ports[&port.parse().unwrap()]);
        }
        let Some(path) = containers::path(text) else { return text.to_owned() };
        let mut volumes = container.volumes.iter();
        let found = volumes.find_map(|(folder, volume)| Some((path.strip_prefix(folder)?, volume)));
        // Nothing can be written to what is on no volume.
        let Some((rest, volume)) = found else { return text.replace(path, "/dev/null/nothing") };
        let folder = self.place.path(volume);
        fs::create_dir_all(&folder).unwrap();
        text.replace(path, &format!("{}{rest}", name(&folder)))
    }

    /// Starts a container, and waits for its probes.
    fn start(&self, container: &str, pages: &[(String, u64)]) -> Running {
        let running = self.command(container, &[]).start();
        for (page, port) in pages {
            until(&format!("{page} of {container}"), || is_ok(self.ports[port], page).then_some(()));
        }
        running
    }
}

fn is_ok(port: u16, page: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let request = format!("GET {page} HTTP/1.1\r\nHost: 10.0.0.7:{port}\r\nConnection: close\r\n\r\n");
    let mut response = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut response).is_ok()
        && response.starts_with("HTTP/1.1 200")
}

/// Uploads through a worker, and exports in two nights.
fn works(mut here: Here, service_pages: &[(String, u64)], worker_pages: &[(String, u64)]) {
    let service = here.start("service", service_pages);
    let pair = || here.command("service", &["serve", "token", "--workspace", "shop", "--json"]).exits(0).json();
    let token = |pair: &Value, name: &str| pair[name].as_str().unwrap().to_owned();
    let (first, second) = (pair(), pair());
    for key in ["access", "refresh"] {
        here.secrets.insert(("sheetport-export".to_owned(), key.to_owned()), token(&second, key));
    }

    // The tokens of another workspace are in a folder.
    let other = here.command("service", &["serve", "token", "--workspace", "acme", "--json"]).exits(0).json();
    let Variable::Is(address) = &here.container("worker").env["SHEETPORT_BASE_URL"] else { panic!("no address") };
    let tokens = here.place.path(&here.container("worker").volumes["/tokens"]);
    fs::create_dir_all(&tokens).unwrap();
    let worker = here.start("worker", worker_pages);
    let login = format!("{}\n{}\n", token(&first, "access"), token(&first, "refresh"));
    here.command("worker", &["login"]).fed(login).exits(0);
    here.command("worker", &["upload", "-", "-t", "items", "--queue"]).fed(items(20)).exits(0);
    here.command("worker", &["runs", "wait"]).exits(0).shows(&["20  sent"]);
    let desk = here.place.path("desk");
    let upload = here.command("worker", &["upload", "-", "-t", "items", "--queue"]);
    let upload = upload.env("SHEETPORT_HOME", desk.to_str().unwrap());
    upload.secret("SHEETPORT_ACCESS_TOKEN", &token(&other, "access")).fed(items(7)).exits(0);
    let file = format!("base_url = \"{address}\"\naccess = \"{}\"\n", token(&other, "access"));
    here.place.write(&format!("{}/acme.toml", here.container("worker").volumes["/tokens"]), file);
    fs::set_permissions(tokens.join("acme.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    here.command("worker", &["runs", "wait"]).exits(0).shows(&["7  sent"]);
    worker.signal("TERM");
    worker.wait().exits(0);
    // Another pod with the volume has the tokens, and knows how far the ledger was written.
    here.command("worker", &["whoami"]).exits(0).shows(&["stored by login", "full"]);
    let volume = &here.container("worker").volumes["/data"];
    assert_eq!(fs::read_dir(here.place.path(volume).join("state/ledgers")).unwrap().count(), 1);

    here.command("export", &[]).exits(0).shows(&["20 items"]).says(&["no earlier export"]);
    here.command("export", &[]).exits(0).shows(&["since the last export: 0 added"]);
    service.signal("TERM");
    service.wait().exits(0);
}

#[test]
fn what_the_cluster_starts_works() {
    let Some(objects) = containers::objects() else { return };
    let Some(here) = Here::new(containers::of_cluster(&objects)) else { return };
    let pages = |name: &str| here.container(name).probes.clone();
    let (service, worker) = (pages("service"), pages("worker"));
    assert_eq!([service.len(), worker.len()], [3, 3]);
    works(here, &service, &worker);
}

#[test]
fn what_compose_starts_works() {
    let Some(containers) = containers::of_compose() else { return };
    let Some(here) = Here::new(containers) else { return };
    works(here, &[("/readyz".to_owned(), 8787)], &[("/readyz".to_owned(), 9187)]);
}

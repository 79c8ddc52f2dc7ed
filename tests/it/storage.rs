//! A server of object storage, by the protocol of S3.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cli::process::Sheetport;
use crate::environment;

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/programs/python/bin/python");
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/s3.py");

/// A server with the bucket `shop`. Stopped on drop.
pub struct Storage {
    server: Child,
    pub address: String,
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
}

impl Storage {
    /// Returns `None` with a message if the program is not installed.
    pub fn start() -> Option<Storage> {
        if !Path::new(PYTHON).with_file_name("moto_server").exists() {
            environment::report_missing("moto");
            return None;
        }
        let mut server = Command::new(PYTHON)
            .arg(SERVER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let address = format!("http://127.0.0.1:{}", port.trim());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let storage = Storage { server, address, runtime, client };
        storage.request(reqwest::Method::PUT, "", Vec::new()).unwrap();
        Some(storage)
    }

    /// Sets what a command needs to use the server.
    pub fn used_by(&self, command: Sheetport) -> Sheetport {
        let command = command.env("AWS_ENDPOINT_URL", &self.address).env("AWS_REGION", "us-east-1");
        command.secret("AWS_ACCESS_KEY_ID", "key-1").secret("AWS_SECRET_ACCESS_KEY", "secret-1")
    }

    pub fn put(&self, key: &str, content: impl Into<Vec<u8>>) {
        self.request(reqwest::Method::PUT, key, content.into()).unwrap();
    }

    /// Returns the content of an object, if there is one.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.request(reqwest::Method::GET, key, Vec::new())
    }

    pub fn text(&self, key: &str) -> String {
        String::from_utf8(self.get(key).unwrap_or_else(|| panic!("no {key} among {:?}", self.keys()))).unwrap()
    }

    /// Returns the keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        let listed = String::from_utf8(self.get("?list-type=2").unwrap()).unwrap();
        let keys = listed.split("<Key>").skip(1).map(|rest| rest.split_once('<').unwrap().0.to_owned());
        keys.collect()
    }

    fn request(&self, method: reqwest::Method, key: &str, body: Vec<u8>) -> Option<Vec<u8>> {
        let mut url = reqwest::Url::parse(&self.address).unwrap();
        match key.strip_prefix('?') {
            Some(query) => {
                url.set_path("/shop");
                url.set_query(Some(query));
            }
            None => url.set_path(&format!("/shop/{key}")),
        }
        // Signatures are not checked, but a request without one is from nobody.
        let signed =
            "AWS4-HMAC-SHA256 Credential=key-1/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
        let request = self.client.request(method, url).header("Authorization", signed).body(body);
        self.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let is_there = answer.status().is_success();
            let body = answer.bytes().await.unwrap();
            is_there.then(|| body.to_vec())
        })
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

//! Headless Chromium, controlled over the DevTools protocol through a pipe, so that no port is needed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::name;
use crate::environment;

/// Timeout of a request, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);
/// Timeout for closing.
const CLOSING: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

pub struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Value,
    last: u64,
    /// Events of the page since the browser was started.
    pub events: Vec<Value>,
    /// Folder of the browser's profile.
    folder: TempDir,
}

impl Browser {
    /// Starts the browser. Returns `None` with a message if Chromium is not installed.
    pub fn start() -> Option<Browser> {
        let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|program| {
            Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
        });
        let Some(program) = found else {
            environment::report_missing("chromium");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        // It reads commands from the descriptor 3 and answers on 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", program])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
            .args(["--remote-debugging-pipe", &format!("--user-data-dir={}", name(folder.path())), "about:blank"])
            .env("TMPDIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = process.stdin.take().unwrap();
        let (sender, messages) = channel();
        let pipe = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || {
            for message in pipe.split(0).map_while(Result::ok) {
                // A test that has let go of the browser does not read on.
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
            }
        });
        let (session, events) = (Value::Null, Vec::new());
        let mut browser = Browser { process, commands, messages, session, last: 0, events, folder };
        browser.open_tab();
        Some(browser)
    }

    /// Opens a further tab, and works in it from now on. Returns the tab before, for [`Browser::turn_to`].
    pub fn open_tab(&mut self) -> Value {
        let before = self.session.take();
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        self.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        self.screen(1280, 900, "light");
        before
    }

    /// Works in another tab. Returns the one before.
    pub fn turn_to(&mut self, tab: Value) -> Value {
        std::mem::replace(&mut self.session, tab)
    }

    /// Opens a file with a fragment such as `#state=failed`.
    #[track_caller]
    pub fn open(&mut self, file: &Path, fragment: &str) {
        self.visit(&format!("file://{}{fragment}", name(file).replace(' ', "%20")));
    }

    /// Opens an address.
    #[track_caller]
    pub fn visit(&mut self, url: &str) {
        // Otherwise another place in the same page would not be loaded anew.
        for url in ["about:blank", url] {
            self.events.retain(|event| event["method"] != "Page.loadEventFired");
            let went = self.call("Page.navigate", json!({"url": url}));
            assert_eq!(went["errorText"], Value::Null, "{url}");
            while !self.has("Page.loadEventFired") {
                self.take();
            }
        }
    }

    /// Chooses a file in the field that a JavaScript expression returns.
    #[track_caller]
    pub fn choose(&mut self, expression: &str, file: &Path) {
        let field = self.call("Runtime.evaluate", json!({"expression": expression}));
        let object = &field["result"]["objectId"];
        self.call("DOM.setFileInputFiles", json!({"files": [name(file)], "objectId": object}));
    }

    pub fn screen(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        // Without transitions, so that what is looked at is what stays.
        let features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")];
        let features = features.map(|(name, value)| json!({"name": name, "value": value}));
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Evaluates a JavaScript expression in the page.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    /// Evaluates a JavaScript expression and returns text.
    #[track_caller]
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// Presses a key, by its name in the DOM, such as `Enter` or `Shift+Tab`.
    #[track_caller]
    pub fn press(&mut self, key: &str) {
        const SHIFT: u8 = 8;
        let (modifiers, key) = key.strip_prefix("Shift+").map_or((0, key), |key| (SHIFT, key));
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "Escape" => (27, ""),
            "Space" => (32, " "),
            "Delete" => (46, ""),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            _ => (0, if key.len() == 1 { key } else { "" }),
        };
        let key = if key == "Space" { " " } else { key };
        let event = |kind: &str, text: &str| json!({"type": kind, "key": key, "text": text, "modifiers": modifiers, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", event(if text.is_empty() { "rawKeyDown" } else { "keyDown" }, text));
        self.call("Input.dispatchKeyEvent", event("keyUp", ""));
    }

    /// Types into the focused element.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    pub fn has(&self, method: &str) -> bool {
        self.events.iter().any(|event| event["method"] == method)
    }

    #[track_caller]
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        let mut bytes = serde_json::to_vec(&command).unwrap();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        loop {
            let mut message = self.messages.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == self.last {
                // Whoever waits for something asks the next page.
                if message["error"]["message"] == "Inspected target navigated or closed" {
                    return json!({"result": {"value": Value::Null}});
                }
                assert_eq!(message["error"], Value::Null, "{method}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    #[track_caller]
    fn take(&mut self) {
        let event = self.messages.recv_timeout(DEADLINE).expect("an event");
        self.events.push(event);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asked to close, it takes its helpers and its sockets along. One that does not answer is killed.
        let _ = self.commands.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        while self.messages.recv_timeout(CLOSING).is_ok() {}
        let _ = self.process.kill();
        let _ = self.process.wait();
        // A helper that ends later may write into the profile meanwhile.
        let end = Instant::now() + CLOSING;
        while fs::remove_dir_all(self.folder.path()).is_err() && self.folder.path().exists() && Instant::now() < end {
            thread::sleep(POLL);
        }
    }
}

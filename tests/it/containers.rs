//! What `packaging/` starts in containers: the objects of the cluster as `kubectl` renders them, and the services of the compose file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;
use serde_json::Value;

use crate::environment;

pub const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging");
/// An image that nobody has.
pub const IMAGE: &str =
    "registry.example/sheetport@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// What the cluster calls the namespace of the manifests.
pub const NAMESPACE: &str = "sheetport";

/// A container with our executable.
#[derive(Debug)]
pub struct Container {
    pub name: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, Variable>,
    /// The volumes by their folders in the container. What has the same name is the same volume.
    pub volumes: BTreeMap<String, String>,
    /// The pages of its probes, with their ports.
    pub probes: Vec<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    Is(String),
    /// The key of a secret.
    Secret(String, String),
}

/// Returns the program that tests/run has installed, or `None` with a message.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/programs/python/bin").join(name);
    if !path.exists() {
        environment::report_missing(name);
        return None;
    }
    Some(path)
}

/// Returns what `kubectl apply -k` would send, with this image.
pub fn rendered(image: &str) -> Option<String> {
    let kubectl = program("kubectl")?;
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(Path::new(PACKAGING).join("kubernetes")).unwrap() {
        let file = file.unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        fs::write(folder.path().join(file.file_name()), text.replace("- image=\n", &format!("- image={image}\n")))
            .unwrap();
    }
    let output = Command::new(kubectl).arg("kustomize").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Returns the documents of a YAML file.
pub fn documents(yaml: &str) -> Option<Vec<Value>> {
    let read = "import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)";
    let mut python = Command::new(program("python")?);
    let mut python = python.args(["-c", read]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(yaml.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Returns the objects of the cluster.
pub fn objects() -> Option<Vec<Value>> {
    documents(&rendered(IMAGE)?)
}

/// Returns the pod of a workload; `None` for other objects.
pub fn pod(object: &Value) -> Option<&Value> {
    match object["kind"].as_str().unwrap() {
        "Deployment" | "StatefulSet" => Some(&object["spec"]["template"]),
        "CronJob" => Some(&object["spec"]["jobTemplate"]["spec"]["template"]),
        _ => None,
    }
}

pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Returns the containers of the cluster.
pub fn of_cluster(objects: &[Value]) -> Vec<Container> {
    objects.iter().filter_map(|object| Some(of_pod(objects, object, &pod(object)?["spec"]))).collect()
}

fn of_pod(objects: &[Value], object: &Value, pod: &Value) -> Container {
    assert_eq!(list(&pod["containers"]).count(), 1, "{pod}");
    let container = &pod["containers"][0];
    let mut env = image_variables();
    for from in list(&container["envFrom"]) {
        let name = &from["configMapRef"]["name"];
        let map = objects.iter().find(|object| object["kind"] == "ConfigMap" && object["metadata"]["name"] == *name);
        let data = map.unwrap_or_else(|| panic!("there is no {name}"))["data"].as_object().unwrap();
        env.extend(data.iter().map(|(name, value)| (name.clone(), Variable::Is(text(value)))));
    }
    for variable in list(&container["env"]) {
        let (from, secret) = (&variable["valueFrom"], &variable["valueFrom"]["secretKeyRef"]);
        let value = match (variable["value"].as_str(), from["fieldRef"]["fieldPath"].as_str()) {
            (Some(value), _) => Variable::Is(value.to_owned()),
            (None, Some("metadata.namespace")) => Variable::Is(NAMESPACE.to_owned()),
            _ => Variable::Secret(text(&secret["name"]), text(&secret["key"])),
        };
        env.insert(text(&variable["name"]), value);
    }
    let name = text(&container["name"]);
    let claims: Vec<String> =
        list(&object["spec"]["volumeClaimTemplates"]).map(|claim| text(&claim["metadata"]["name"])).collect();
    let volume = |wanted: &str| {
        if claims.iter().any(|claim| claim == wanted) {
            return format!("{wanted}-{name}-0");
        }
        let volume = list(&pod["volumes"]).find(|volume| volume["name"] == wanted);
        let volume = volume.unwrap_or_else(|| panic!("{name} has no volume {wanted}"));
        volume["persistentVolumeClaim"]["claimName"].as_str().map_or_else(|| format!("{name}-{wanted}"), str::to_owned)
    };
    let mounts = list(&container["volumeMounts"]);
    let volumes = mounts.map(|mount| (text(&mount["mountPath"]), volume(mount["name"].as_str().unwrap()))).collect();
    let probes = ["startupProbe", "readinessProbe", "livenessProbe"].iter().filter_map(|probe| {
        let get = container[*probe]["httpGet"].as_object()?;
        let port = list(&container["ports"]).find(|port| port["name"] == get["port"]);
        let port = port.unwrap_or_else(|| panic!("{probe} of {name} has no port"));
        Some((text(&get["path"]), port["containerPort"].as_u64().unwrap()))
    });
    let mut args: Vec<String> = list(&container["args"]).map(text).collect();
    for arg in &mut args {
        for (name, value) in &env {
            if let Variable::Is(value) = value {
                *arg = arg.replace(&format!("$({name})"), value);
            }
        }
    }
    Container { probes: probes.collect(), name, args, env, volumes }
}

/// Returns the containers of the compose file that have our image.
pub fn of_compose() -> Option<Vec<Container>> {
    let file = fs::read_to_string(Path::new(PACKAGING).join("compose.yaml")).unwrap();
    let file = documents(&file)?.remove(0);
    let services = file["services"].as_object().unwrap().iter().filter(|(_, service)| service["image"] == "sheetport");
    let containers = services.map(|(name, service)| {
        let mut env = image_variables();
        let variables = service["environment"].as_object().unwrap();
        env.extend(variables.iter().map(|(name, value)| (name.clone(), Variable::Is(text(value)))));
        let volumes = list(&service["volumes"]).map(|volume| {
            let (volume, folder) = volume.as_str().unwrap().split_once(':').unwrap();
            // A folder beside the file, for reading.
            if let Some((name, folder)) = volume.strip_prefix("./").zip(folder.strip_suffix(":ro")) {
                return (folder.to_owned(), name.to_owned());
            }
            assert!(!file["volumes"][volume].is_object() && file["volumes"].as_object().unwrap().contains_key(volume));
            (folder.to_owned(), volume.to_owned())
        });
        let temporary = list(&service["tmpfs"]).map(|folder| (text(folder), format!("{name}-tmp")));
        let secrets = list(&service["secrets"]).map(|secret| (format!("/run/secrets/{}", text(secret)), text(secret)));
        Container {
            name: name.clone(),
            args: list(&service["command"]).map(text).collect(),
            env,
            volumes: volumes.chain(temporary).chain(secrets).collect(),
            probes: Vec::new(),
        }
    });
    Some(containers.collect())
}

/// Returns the variables of the image.
fn image_variables() -> BTreeMap<String, Variable> {
    let file = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Containerfile")).unwrap();
    let line = Regex::new("(?m)^ENV PATH=/usr/bin (.*)$").unwrap().captures(&file).unwrap()[1].to_owned();
    let pairs = line.split(' ').map(|pair| pair.split_once('=').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), Variable::Is(value.to_owned()))).collect()
}

/// Returns a path in the arguments or variables of a container: what a text is after `=`, if it begins with a slash.
pub fn path(text: &str) -> Option<&str> {
    let path = text.split_once('=').filter(|(flag, _)| flag.starts_with("--")).map_or(text, |(_, value)| value);
    path.starts_with('/').then_some(path)
}

//! The files of `packaging/`, by the schemas of Kubernetes and of the Compose Specification, and those of `.github/`, by linters.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use crate::containers::{
    IMAGE, PACKAGING, Variable, list, objects, of_cluster, of_compose, path, pod, program, rendered,
};

const GITHUB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.github");

/// Returns whether a program accepts a file, and what it says. `None` with a message if it is not installed.
fn judged(name: &str, args: &[&str], file: &Path) -> Option<(bool, String)> {
    let output = Command::new(program(name)?).args(args).arg(file).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8(said).unwrap()))
}

/// Asserts that a program accepts the files, and no longer accepts one in which `known` is `unknown`.
fn assert_valid(program: &str, args: &[&str], files: &[PathBuf], known: &str, unknown: &str) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let Some((is_valid, said)) = judged(program, args, file) else { return };
        assert!(is_valid, "{}: {said}", file.display());
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(known), "{} has no {known}", file.display());
        let wrong = folder.path().join("wrong.yaml");
        fs::write(&wrong, text.replace(known, unknown)).unwrap();
        let (is_valid, said) = judged(program, args, &wrong).unwrap();
        assert!(!is_valid, "{} with {unknown}: {said}", file.display());
    }
}

/// Returns the files of a folder, of which there are several.
fn files(top: &str, folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(Path::new(top).join(folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    files
}

#[test]
fn manifests_fit_the_schemas_of_kubernetes() {
    let Some(all) = rendered(IMAGE) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.yaml");
    fs::write(&file, &all).unwrap();
    let strict = ["--kubernetes-version", "1.37", "--strict"];
    assert_valid("kubernetes-validate", &strict, &[file], "containers:", "container:");
    // The API server refuses pods with an empty name of an image.
    let unset = rendered("").unwrap();
    let images = |text: &str, image: &str| text.matches(&format!(" image: {image}\n")).count();
    assert_eq!((images(&unset, "\"\""), images(&unset, IMAGE)), (3, 0));
    assert_eq!((images(&all, "\"\""), images(&all, IMAGE)), (0, 3));
}

/// What a schema does not see: names of other objects, and labels that select something.
#[test]
fn objects_of_the_cluster_belong_together() {
    let Some(objects) = objects() else { return };
    let pods: Vec<&Value> = objects.iter().filter_map(pod).collect();
    let has = |pod: &Value, selector: &Value| {
        let labels = &pod["metadata"]["labels"];
        let mut wanted = selector["matchLabels"].as_object().into_iter().flatten();
        wanted.all(|(name, value)| labels[name] == *value)
            && list(&selector["matchExpressions"]).all(|wanted| {
                assert_eq!(wanted["operator"], "In");
                list(&wanted["values"]).any(|value| labels[wanted["key"].as_str().unwrap()] == *value)
            })
    };
    let there = |kind: &str, name: &Value| {
        objects.iter().any(|object| object["kind"] == kind && object["metadata"]["name"] == *name)
    };
    for object in &objects {
        let (kind, spec) = (object["kind"].as_str().unwrap(), &object["spec"]);
        let selector = match kind {
            "NetworkPolicy" => spec["podSelector"].clone(),
            "Service" => json!({"matchLabels": spec["selector"]}),
            _ => spec["selector"].clone(),
        };
        assert!(selector.is_null() || pods.iter().any(|pod| has(pod, &selector)), "{kind} selects nothing: {selector}");
        assert!(spec["serviceName"].is_null() || there("Service", &spec["serviceName"]), "{spec}");
        let Some(pod) = pod(object) else { continue };
        let (spec, container) = (&pod["spec"], &pod["spec"]["containers"][0]);
        for claim in list(&spec["volumes"]).map(|volume| &volume["persistentVolumeClaim"]["claimName"]) {
            assert!(claim.is_null() || there("PersistentVolumeClaim", claim), "there is no {claim}");
        }
        // What the level `restricted` of the namespace asks for, and more.
        assert_eq!(
            [&spec["securityContext"]["runAsNonRoot"], &container["securityContext"]["readOnlyRootFilesystem"]],
            [true; 2]
        );
        assert_eq!(container["securityContext"]["capabilities"], json!({"drop": ["ALL"]}));
        assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
        assert_eq!(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        let claims = spec.to_string().contains("claimName") || kind == "StatefulSet";
        assert_eq!(spec["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch", claims, "{kind}");
        assert!(container["resources"]["requests"]["memory"].is_string());
    }
    // A port that the rules of the network allow is one that somebody listens on.
    let ports: Vec<&Value> = pods.iter().flat_map(|pod| list(&pod["spec"]["containers"][0]["ports"])).collect();
    for policy in objects.iter().filter(|object| object["kind"] == "NetworkPolicy") {
        for port in list(&policy["spec"]["ingress"]).flat_map(|rule| list(&rule["ports"])) {
            assert!(ports.iter().any(|known| known["containerPort"] == port["port"]), "{policy}");
        }
    }
}

/// Containers whose own disk is read-only keep their files on volumes; those with records to know again keep them on lasting ones.
#[test]
fn containers_use_documented_variables_and_volumes() {
    let has_password = Regex::new("://[^/]*:[^/]*@").unwrap();
    let (Some(objects), Some(compose)) = (objects(), of_compose()) else { return };
    let docs: String = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs"))
        .unwrap()
        .filter_map(|file| fs::read_to_string(file.unwrap().path()).ok())
        .collect();
    for container in of_cluster(&objects).iter().chain(&compose) {
        let name = &container.name;
        for (variable, value) in &container.env {
            assert!(variable == "NAMESPACE" || docs.contains(variable.as_str()), "{variable} of {name} is in no page");
            let is_secret = matches!(value, Variable::Secret(..));
            let has_password = matches!(value, Variable::Is(value) if has_password.is_match(value));
            assert!(!has_password && (is_secret || !variable.contains("TOKEN")), "{variable} of {name}");
        }
        let data = container.volumes.get("/data");
        let is_temporary = data.is_some_and(|volume| *volume == format!("{name}-data"));
        assert!(!is_temporary && (data.is_some() || name == "service"), "{name} forgets its tokens");
        let values = container.env.values().filter_map(|value| match value {
            Variable::Is(value) => Some(value),
            Variable::Secret(..) => None,
        });
        for path in container.args.iter().chain(values).filter_map(|text| path(text)) {
            // The service with a database keeps nothing in its home.
            let is_kept = container.volumes.keys().any(|folder| Path::new(path).starts_with(folder));
            assert!(is_kept || (name == "service" && path.starts_with("/data/")), "{path} of {name} is on no volume");
        }
    }
}

#[test]
fn the_compose_file_fits_its_specification() {
    let file = Path::new(PACKAGING).join("compose.yaml");
    let schema = ["--builtin-schema", "vendor.compose-spec"];
    assert_valid("check-jsonschema", &schema, &[file], "restart:", "restarts:");
}

/// GitHub itself runs nothing here, so what a linter does not see is untried.
#[test]
fn workflows_are_accepted_by_the_linters() {
    let workflows = files(GITHUB, "workflows");
    assert_valid("actionlint", &["-no-color"], &workflows, "runs-on:", "run-on:");
    // Among others, an action whose tag somebody may move, and a token that stays on disk.
    let zizmor = ["--offline", "--no-progress", "--quiet", "--color", "never"];
    assert_valid("zizmor", &zizmor, &workflows, "persist-credentials: false", "fetch-depth: 1");
}

#[test]
fn actions_are_pinned_by_commit_and_updated_by_a_bot() {
    let workflows: Vec<String> =
        files(GITHUB, "workflows").iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let uses = Regex::new(r"(?m)uses: (.*)$").unwrap();
    let pinned = Regex::new(r"^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$").unwrap();
    let actions: Vec<&str> = workflows
        .iter()
        .flat_map(|text| uses.captures_iter(text).map(|found| found.get(1).unwrap().as_str()))
        .collect();
    assert!(actions.len() > 5 && actions.iter().all(|action| pinned.is_match(action)), "{actions:#?}");

    let dependabot = [Path::new(GITHUB).join("dependabot.yml")];
    assert_valid(
        "check-jsonschema",
        &["--builtin-schema", "vendor.dependabot"],
        &dependabot,
        "package-ecosystem: cargo",
        "package-ecosystem: crates",
    );
}

#[test]
fn issue_templates_fit_their_schema() {
    let forms: Vec<PathBuf> =
        files(GITHUB, "ISSUE_TEMPLATE").into_iter().filter(|file| !file.ends_with("config.yml")).collect();
    let schema = ["--builtin-schema", "vendor.github-issue-forms"];
    assert_valid("check-jsonschema", &schema, &forms, "type: textarea", "type: textbox");
}

/// Workflows, the image and the oldest version that is promised name the same compiler.
#[test]
fn one_version_of_the_compiler_is_named_everywhere() {
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = |pattern: &str, path: &Path| -> Vec<String> {
        let pattern = Regex::new(pattern).unwrap();
        pattern.captures_iter(&read(path)).map(|found| found[1].to_owned()).collect()
    };
    let oldest = found(r#"(?m)^rust-version = "([0-9.]+)"$"#, &root.join("Cargo.toml"));
    assert_eq!(oldest.len(), 1);
    let oldest = oldest[0].as_str();
    assert!(read(&root.join("README.md")).contains(&format!("You need Rust {oldest} or later")));
    let mut versions = found(r"rust:([0-9.]+)-", &root.join("Containerfile"));
    for workflow in files(GITHUB, "workflows") {
        versions.extend(found(r"rust:([0-9.]+)-", &workflow));
        let pins = found(r"(?m)^  TOOLCHAIN: ([0-9.]+)$", &workflow);
        assert_eq!(pins.len(), 1, "{}", workflow.display());
        versions.extend(pins.iter().map(|pin| pin.trim_end_matches(".0").to_owned()));
    }
    assert!(versions.len() > 4 && versions.iter().all(|version| version == &versions[0]), "{versions:?}");
    // It may be later than the oldest, which a job of its own tries.
    let number = |version: &str| -> Vec<u32> { version.split('.').map(|part| part.parse().unwrap()).collect() };
    assert!(number(&versions[0]) >= number(oldest), "{versions:?} before {oldest}");
}

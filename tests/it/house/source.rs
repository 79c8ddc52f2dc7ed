//! The crate's source files, parsed, and the files that each of them uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// A module's path from the crate's root, such as `["export", "spool"]`.
pub type ModulePath = Vec<String>;

/// Follows at most this many names imported from names.
const MAX_DEPTH: usize = 16;

/// The parsed source files of a crate, without the parts that only tests compile.
#[derive(Default)]
pub struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    /// Modules that only tests compile.
    test_modules: BTreeSet<ModulePath>,
}

/// One module: a file or a block `mod name { … }` inside a file.
#[derive(Default)]
struct Module {
    /// The path of the file below `src`.
    file: PathBuf,
    /// The names of the items defined here.
    items: BTreeSet<String>,
    /// Imported names and the absolute paths that they stand for. Re-exports are included.
    imports: BTreeMap<String, Vec<String>>,
    /// Paths used here.
    used: Vec<Vec<String>>,
    /// Re-exported paths.
    reexported: Vec<Vec<String>>,
}

impl Crate {
    /// Parses all Rust files below `src`.
    pub fn read(src: &Path) -> Crate {
        let mut parsed = Crate::default();
        let mut files: Vec<PathBuf> = files(src);
        files.sort();
        for path in files {
            let relative = path.strip_prefix(src).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            parsed.add(relative, &text);
        }
        parsed.without_tests()
    }

    /// Parses files given as path and text.
    pub fn of(files: &[(&str, &str)]) -> Crate {
        let mut parsed = Crate::default();
        files.iter().for_each(|(path, text)| parsed.add(Path::new(path), text));
        parsed.without_tests()
    }

    fn without_tests(mut self) -> Crate {
        let Crate { modules, test_modules } = &mut self;
        modules.retain(|path, _| !test_modules.iter().any(|tests| path.starts_with(tests)));
        self
    }

    fn add(&mut self, path: &Path, text: &str) {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Reader { own: module_path(path), file: path.to_owned(), found: self }.read(&file.items);
    }

    /// Returns, for each file, the other files whose items it uses. A module that re-exports items of its own children
    /// does not use them.
    pub fn edges(&self) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
        let mut edges: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for (own, module) in &self.modules {
            let used = module.used.iter().filter_map(|path| self.definition(own, path, 0));
            let reexported = module.reexported.iter().filter_map(|path| self.definition(own, path, 0));
            let targets = used.chain(reexported.filter(|file| !module_path(file).starts_with(own)));
            let targets = targets.filter(|file| *file != module.file);
            edges.entry(module.file.clone()).or_default().extend(targets);
        }
        edges
    }

    /// Returns the file that defines the item at `path` as seen from module `own`, or `None` for items of other crates
    /// and for paths that end at a module.
    fn definition(&self, own: &ModulePath, path: &[String], depth: usize) -> Option<PathBuf> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (own.clone(), &path[1..]),
            "super" => (own[..own.len().checked_sub(1)?].to_vec(), &path[1..]),
            _ => (own.clone(), path),
        };
        while let Some((name, tail)) = rest.split_first() {
            if name == "super" {
                at.pop()?;
                rest = tail;
                continue;
            }
            let module = self.modules.get(&at)?;
            let child: ModulePath = at.iter().cloned().chain([name.clone()]).collect();
            if self.modules.contains_key(&child) {
                at = child;
            } else if module.items.contains(name) {
                return Some(module.file.clone());
            } else {
                let mut through = module.imports.get(name)?.clone();
                through.extend(tail.iter().cloned());
                return self.definition(&at, &through, depth + 1);
            }
            rest = tail;
        }
        None
    }
}

/// Collects the names of one module.
struct Reader<'a> {
    own: ModulePath,
    file: PathBuf,
    found: &'a mut Crate,
}

impl Reader<'_> {
    fn read(&mut self, items: &[syn::Item]) {
        let mut module = Module { file: self.file.clone(), ..Module::default() };
        for item in items {
            match item {
                syn::Item::Mod(inner) => {
                    let own: ModulePath = self.own.iter().cloned().chain([inner.ident.to_string()]).collect();
                    if is_test(item) {
                        self.found.test_modules.insert(own);
                    } else if let Some((_, items)) = &inner.content {
                        Reader { own, file: self.file.clone(), found: self.found }.read(items);
                    }
                }
                item if is_test(item) => {}
                syn::Item::Use(import) => {
                    let paths = match import.vis {
                        syn::Visibility::Inherited => &mut module.used,
                        _ => &mut module.reexported,
                    };
                    let mut leaves = Vec::new();
                    flatten(&import.tree, &mut Vec::new(), &mut leaves);
                    for (name, path) in leaves {
                        paths.push(path.clone());
                        module.imports.insert(name, path);
                    }
                }
                item => {
                    module.items.extend(name(item));
                    Paths(&mut module.used).visit_item(item);
                }
            }
        }
        self.found.modules.insert(self.own.clone(), module);
    }
}

/// Collects the paths of more than one name in code, macro arguments included.
struct Paths<'a>(&'a mut Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.0.push(names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let text = call.tokens.to_string().replace(" :: ", "::");
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let paths = text.split(|c: char| !is_name(c)).filter(|word| word.contains("::"));
        self.0.extend(paths.map(|path| path.split("::").map(str::to_owned).collect()));
    }
}

/// The leaves of a `use` tree: each local name with its path.
fn flatten(tree: &syn::UseTree, prefix: &mut Vec<String>, leaves: &mut Vec<(String, Vec<String>)>) {
    let joined = |prefix: &[String], name: &syn::Ident| match name == "self" {
        true => prefix.to_vec(),
        false => prefix.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>(),
    };
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, leaves);
            prefix.pop();
        }
        syn::UseTree::Name(leaf) => {
            let path = joined(prefix, &leaf.ident);
            leaves.extend(path.last().cloned().map(|name| (name, path)));
        }
        syn::UseTree::Rename(leaf) => leaves.push((leaf.rename.to_string(), joined(prefix, &leaf.ident))),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, prefix, leaves)),
        _ => {}
    }
}

/// The name that an item defines, if any.
fn name(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Const(item) => item.ident.to_string(),
        syn::Item::Enum(item) => item.ident.to_string(),
        syn::Item::Fn(item) => item.sig.ident.to_string(),
        syn::Item::Macro(item) => item.ident.as_ref()?.to_string(),
        syn::Item::Static(item) => item.ident.to_string(),
        syn::Item::Struct(item) => item.ident.to_string(),
        syn::Item::Trait(item) => item.ident.to_string(),
        syn::Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Whether the item is compiled for tests only.
pub fn is_test(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => return false,
    };
    has_test_attribute(attributes)
}

pub fn has_test_attribute(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

/// The module path of the file at `path` below `src`.
fn module_path(path: &Path) -> ModulePath {
    let mut names: ModulePath =
        path.with_extension("").components().map(|part| part.as_os_str().to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| name == "mod") || matches!(names.as_slice(), [only] if only == "lib") {
        names.pop();
    }
    names
}

/// All Rust files below `folder`.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

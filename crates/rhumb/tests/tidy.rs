//! Style that runs: sizes of files and functions, names, arrows between rooms, and paths that the
//! documentation names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a file, tests at its end not counted.
const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const COLUMNS_MAX: usize = 100;

/// Who may use whom; nothing else.
const ARROWS: [(&str, &[&str]); 20] = [
    // For tests alone: in nobody's list.
    ("given", &[]),
    ("page", &[]),
    ("disk", &[]),
    ("graph", &[]),
    ("neardup", &[]),
    ("extract", &["page"]),
    ("search", &["page", "neardup"]),
    ("topic", &["neardup"]),
    ("engine", &["page", "neardup"]),
    ("cluster", &["engine"]),
    ("state", &["disk", "page", "neardup", "engine"]),
    ("archive", &["disk", "page"]),
    ("shipped", &["disk", "engine", "state", "archive"]),
    ("fetch", &["page"]),
    ("sim", &["page", "neardup", "engine", "cluster", "state"]),
    (
        "node",
        &[
            "disk", "page", "neardup", "extract", "search", "topic", "engine", "cluster", "state",
            "archive", "shipped", "fetch",
        ],
    ),
    ("web", &["page", "search", "node"]),
    ("export", &["disk", "page", "extract", "engine", "state", "archive", "fetch", "node"]),
    (
        "lab",
        &[
            "disk", "page", "graph", "neardup", "topic", "engine", "cluster", "state", "archive",
            "fetch", "node", "sim",
        ],
    ),
    (
        "rhumb",
        &[
            "disk", "page", "graph", "neardup", "extract", "engine", "cluster", "state", "archive",
            "fetch", "node", "sim", "web", "lab", "search", "export", "topic", "shipped",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files(dir: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

fn sources() -> BTreeMap<PathBuf, String> {
    let mut found = Vec::new();
    for (room, _) in ARROWS {
        files(&root().join("crates").join(room).join("src"), "rs", &mut found);
    }
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// What comes before the tests of a file.
fn code(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

#[test]
fn files_and_functions_are_short_and_every_room_says_what_it_is() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let code = code(&text);
        if code.lines().count() > FILE_LINES_MAX {
            complaints.push(format!("{name}: {} lines", code.lines().count()));
        }
        if !text.starts_with("//!") && !name.ends_with("main.rs") {
            complaints.push(format!("{name}: no head that says what it is"));
        }
        for (line, length) in functions(code).filter(|(_, length)| *length > FUNCTION_LINES_MAX) {
            complaints.push(format!("{name}:{line}: a function of {length} lines"));
        }
        if name.ends_with("tests.rs") {
            continue;
        }
        let long = code.lines().enumerate().filter(|(_, l)| l.chars().count() > COLUMNS_MAX);
        for (line, text) in long.filter(|(_, l)| !l.contains("http")) {
            complaints.push(format!("{name}:{}: {} columns", line + 1, text.chars().count()));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Each function's first line and length, by the indentation that rustfmt gives.
fn functions(code: &str) -> impl Iterator<Item = (usize, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        let bare = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        let bare = bare.trim_start_matches("pub(super) ").trim_start_matches("async ");
        bare.starts_with("fn ")
    });
    let lengths = starts.filter_map(|(start, line)| {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines[start..].iter().position(|line| *line == end)?;
        Some((start + 1, length + 1))
    });
    lengths.collect::<Vec<_>>().into_iter()
}

#[test]
fn no_room_is_called_after_nothing() {
    for (path, _) in sources() {
        for part in path.strip_prefix(root()).unwrap().components() {
            let name = part.as_os_str().to_string_lossy();
            let stem = name.trim_end_matches(".rs");
            let vague = ["utils", "util", "common", "helpers", "helper", "misc"].contains(&stem);
            assert!(!vague, "{}: a thing without a name is not understood yet", path.display());
        }
    }
}

#[test]
fn the_arrows_between_rooms_point_one_way() {
    for (room, allowed) in ARROWS {
        let manifest = root().join("crates").join(room).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        // A test may look back at a room that the code must not know.
        let used = text.split("[dependencies]").nth(1).unwrap_or_default();
        let used = used.split("\n[").next().unwrap_or_default();
        for (other, _) in ARROWS {
            let named = used.lines().any(|l| l.starts_with(&format!("rhumb-{other}")));
            assert!(!named || allowed.contains(&other), "{room} must not use {other}");
        }
    }
}

#[test]
fn the_engine_knows_no_clock_file_socket_thread_or_runtime() {
    let banned = [
        "std::fs",
        "std::net::Tcp",
        "std::net::Udp",
        "std::thread",
        "std::time",
        "tokio",
        "SystemTime",
        "Instant",
        "println!",
        "std::io",
    ];
    for (path, text) in sources() {
        if path.starts_with(root().join("crates/engine")) {
            let code = code(&text).lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let found = banned.iter().find(|word| line.contains(**word));
                assert!(found.is_none(), "{}: {found:?} in {line:?}", path.display());
            }
        }
    }
}

#[test]
fn a_urls_position_is_written_in_one_file_and_its_status_in_another() {
    let called = [
        "Row::Queue {",
        "Row::Url {",
        "mass.stand(",
        "counters.refused_as(",
        "counters.failed_as(",
    ];
    let counted = [
        "counters.known",
        "counters.admitted",
        "counters.queued",
        "requisites.waiting",
        "record.queued",
        "record.admitted",
        "record.sitemaps",
        "record.place",
    ];
    let engine = root().join("crates/engine/src");
    let of = |name: &str| fs::read_to_string(engine.join(name)).unwrap();
    let writes = |text: &str, what: &str| {
        let forms = [format!("{what} = "), format!("{what} += "), format!("{what} -= ")];
        let lent = format!("&mut {what},");
        forms.iter().chain([&lent]).any(|form| text.contains(form.as_str()))
    };
    let books = of("books.rs");
    assert!(called.iter().all(|what| books.contains(what)), "the books write no position");
    assert!(counted.iter().all(|what| writes(&books, what)), "the books count no position");
    assert!(writes(&of("record.rs"), "self.status"), "no record gets another status");
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with(&engine)) {
        let (name, code) = (path.strip_prefix(&engine).unwrap().to_str().unwrap(), code(text));
        let is_of_books = name == "books.rs";
        let called = called.iter().find(|what| code.contains(**what));
        let counted = counted.iter().find(|what| writes(code, what));
        let found = called.or(counted).filter(|_| !is_of_books);
        assert!(found.is_none(), "{name} writes a position: {found:?}");
        let has_status = code.contains("status: Status::") || code.contains(".status = ");
        assert!(!has_status || name == "record.rs", "{name} gives a URL another status");
        let has_place = code.contains("place: None") || code.contains("place: Some(");
        assert!(!has_place || is_of_books || name == "record.rs", "{name} gives a URL a place");
    }
}

#[test]
fn paths_that_the_documentation_names_exist() {
    let mut pages = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    files(&root().join("docs"), "md", &mut pages);
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let quoted = text.split('`').skip(1).step_by(2);
        let is_path = |word: &&str| {
            let first = word.split('/').next().unwrap_or_default();
            let ours = ["crates", "docs", "scripts", "examples", "fuzz", ".ci"].contains(&first);
            ours && word.contains('/') && !word.contains([' ', '*', '<', '{', '…'])
        };
        for path in quoted.filter(is_path) {
            assert!(root().join(path).exists(), "{} names {path}, which is gone", page.display());
        }
    }
}

/// Rows of the glossary: the name in the code, and the older word.
fn glossary() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let part = text.split("## Glossary").nth(1).expect("ARCHITECTURE.md has a glossary");
    let rows = part.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| "));
    let cells = rows.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    cells.skip(1).map(|row| (row[3].trim_matches('`').to_owned(), row[4].to_owned())).collect()
}

#[test]
fn names_of_the_glossary_are_in_the_code_and_the_names_before_them_are_not() {
    const GONE: [&str; 12] = [
        "Shop",
        "Couriers",
        "Courier",
        "Errand",
        "HostErrand",
        "Desk",
        "Letter",
        "Parcel",
        "PostOpening",
        "Stower",
        "JudgedBy",
        "Judgement",
    ];
    let glossary = glossary();
    assert!(glossary.len() > 20, "the glossary has rows");
    let all: String = sources().into_values().collect();
    let words: std::collections::HashSet<&str> =
        all.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for (name, _) in &glossary {
        let last = name.rsplit("::").next().unwrap();
        assert!(words.contains(last), "the glossary names {name}, which is nowhere");
    }
    let core = ["engine", "state", "sim", "node"].map(|room| root().join("crates").join(room));
    for (path, text) in
        sources().iter().filter(|(path, _)| core.iter().any(|c| path.starts_with(c)))
    {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let old = words.find(|word| GONE.contains(word));
        let is_migration = path.components().any(|c| c.as_os_str() == "migrate");
        assert!(old.is_none() || is_migration, "{old:?} in {path:?}");
    }
}

#[test]
fn each_decision_has_a_number_of_its_own() {
    let mut pages = Vec::new();
    files(&root().join("docs/decisions"), "md", &mut pages);
    let mut numbers: Vec<String> =
        pages.iter().map(|p| p.file_name().unwrap().to_string_lossy()[..4].to_owned()).collect();
    numbers.sort();
    let twice: Vec<&[String]> = numbers.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "numbers of decisions that stand twice: {twice:?}");
}

/// The name of a public type that a line declares.
fn public_type(line: &str) -> Option<&str> {
    let declared = line.trim_start().strip_prefix("pub ")?;
    let (keyword, rest) = declared.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type", "union"].contains(&keyword);
    is_type.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()).flatten()
}

#[test]
fn no_public_type_has_the_name_of_another() {
    let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, text) in sources() {
        // Types as older formats had them keep their names; those of a test or a bench are its own.
        let mut parts = path.components().map(|part| part.as_os_str());
        let is_library = parts.clone().any(|part| part == "src");
        if parts.any(|part| part == "migrate") || !is_library {
            continue;
        }
        for name in code(&text).lines().filter_map(public_type) {
            places.entry(name.to_owned()).or_default().push(path.clone());
        }
    }
    assert!(places.len() > 500, "{} public types", places.len());
    places.retain(|_, paths| paths.len() > 1);
    assert!(places.is_empty(), "one name, several types: {places:#?}");
}

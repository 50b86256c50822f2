//! Repositories as of one commit: trees, files, histories and differences, by what the programs
//! call them that show repositories.
//!
//! A repository of 2,000 commits and 300 files has some 2,300 pages that say something: its
//! commits, and its files as they are now. It has millions of views, each file at each commit, and
//! every commit links to those of its day. These are left out; commits, tags, histories of branches
//! and the files of the main one are not. gitweb, cgit, hgweb, Trac and `ViewVC`, and what has
//! paths like those of GitHub, GitLab and Gitea.

/// What gitweb calls views that are of a commit when they name an object or a tag …
const GITWEB_VIEWS: [&str; 6] = ["blob", "history", "log", "search", "shortlog", "tree"];
/// … and other forms of what it shows elsewhere.
const GITWEB_FORMS: [&str; 10] = [
    "blame",
    "blame_data",
    "blame_incremental",
    "blob_plain",
    "blobdiff",
    "blobdiff_plain",
    "commitdiff_plain",
    "patch",
    "patches",
    "search",
];
/// Segments behind which cgit takes a commit from the query.
const CGIT_VIEWS: [&str; 10] =
    ["about", "blame", "diff", "log", "patch", "plain", "rawdiff", "refs", "stats", "tree"];
/// Other forms of what cgit shows elsewhere.
const CGIT_FORMS: [&str; 6] = ["blame", "diff", "patch", "plain", "rawdiff", "stats"];
/// Segments behind which a commit is the one of a view …
const VIEWS: [&str; 13] = [
    "annotate",
    "blame",
    "changelog",
    "commitdiff_plain",
    "commits",
    "comparison",
    "filelog",
    "graph",
    "manifest",
    "patch",
    "raw-rev",
    "shortlog",
    "tree",
];
/// … and those that others use, too: only if a path within the repository comes behind it.
const PATH_VIEWS: [&str; 10] =
    ["blob", "diff", "edit", "export", "file", "find", "log", "plain", "raw", "raw-file"];
/// `/src/commit/HASH/path`.
const BEFORE_COMMIT: [&str; 6] = ["archive", "blame", "commits", "media", "raw", "src"];
/// Trac takes the commit of these from `rev`.
const TRAC_VIEWS: [&str; 4] = ["annotate", "browser", "export", "log"];

/// Whether a URL shows a repository, or a part of it, as it was at one commit.
pub(super) fn is_of_commit(path: &str, query: Option<&str>) -> bool {
    let query = query.unwrap_or_default();
    is_path_of_commit(path) || is_query_of_commit(path, query)
}

fn is_query_of_commit(path: &str, query: &str) -> bool {
    if query.is_empty() && !path.contains(".git/") {
        return false;
    }
    let value = |wanted: &str| {
        let mut pairs = query.split(['&', ';']).filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
    };
    let names_commit = |name: &str| value(name).is_some_and(is_hash);
    if let Some(action) = value("a").filter(|_| is_gitweb(&value)) {
        return is_gitweb_view(action, value);
    }
    let within = |views: &[&str]| path.split('/').any(|segment| views.contains(&segment));
    if is_cgit_view(path, value) {
        return true;
    }
    if names_commit("id") || names_commit("id2") {
        return within(&CGIT_VIEWS) || path_behind(path, "commit").is_some();
    }
    if value("rev").is_some() || value("annotate").is_some() {
        return within(&TRAC_VIEWS);
    }
    let is_difference = value("r1").is_some() && value("r2").is_some();
    let is_revision = value("revision").is_some() && value("view").is_some();
    is_difference || is_revision || value("pathrev").is_some()
}

/// Other programs have parameters of these names, too: gitweb's say what project, or what commit.
fn is_gitweb<'q>(value: &impl Fn(&str) -> Option<&'q str>) -> bool {
    let is_project = value("p").is_some_and(|project| project.ends_with(".git"));
    is_project || ["h", "hb"].iter().any(|name| value(name).is_some_and(is_hash))
}

/// Of what is there now, too, one view is enough: not who wrote each line, nor the bare bytes. The
/// tree of a branch or tag shares its files with that of `HEAD`.
fn is_gitweb_view<'q>(action: &str, value: impl Fn(&str) -> Option<&'q str>) -> bool {
    let of_commit = value("h").is_some_and(|h| is_hash(h) || h.starts_with("refs/tags/"));
    match action {
        "commit" | "commitdiff" => ["f", "hp", "ds"].iter().any(|name| value(name).is_some()),
        _ if GITWEB_FORMS.contains(&action) => true,
        _ => match value("hb") {
            Some(base) => base != "HEAD",
            None => of_commit && GITWEB_VIEWS.contains(&action),
        },
    }
}

/// `/made.git/log/docs/b.md?h=topic`: of the branch that is shown first, files, their histories and
/// all commits; of the others the commits.
fn is_cgit_view<'q>(path: &str, value: impl Fn(&str) -> Option<&'q str>) -> bool {
    let mut segments = path.split('/').skip_while(|segment| !segment.ends_with(".git")).skip(1);
    let view = segments.next().unwrap_or_default();
    let is_part = segments.next().is_some_and(|segment| !segment.is_empty());
    let (of_branch, of_commit) = (value("h").is_some(), value("id").is_some());
    match view {
        "tree" | "refs" => of_branch || of_commit,
        "log" => value("showmsg").is_some() || of_commit || (of_branch && is_part),
        "commit" => is_part || of_branch,
        // A feed of each file; that of the whole announces what is new.
        "atom" => is_part,
        _ => CGIT_FORMS.contains(&view),
    }
}

fn is_path_of_commit(path: &str) -> bool {
    let mut before = ["", ""];
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let [farther, view] = before;
        let is_last = segments.peek().is_none();
        if view == "changeset" && !is_last && path_behind(path, "changeset").is_some() {
            return true;
        }
        if let Some(rest) = hash_at(segment) {
            let is_whole = rest.is_empty();
            let is_view = match view {
                "commit" if !is_whole => matches!(rest, ".diff" | ".patch"),
                "commit" => BEFORE_COMMIT.contains(&farther),
                "compare" => rest.starts_with(".."),
                _ if is_whole && PATH_VIEWS.contains(&view) => !is_last,
                _ if is_whole => VIEWS.contains(&view),
                // gitweb: `/blob/HASH:/path`.
                _ => {
                    let is_known = GITWEB_VIEWS.contains(&view) || GITWEB_FORMS.contains(&view);
                    rest.starts_with(':') && is_known
                }
            };
            if is_view {
                return true;
            }
        }
        before = [view, segment];
    }
    false
}

/// What comes behind a view and the commit or number after it: `/changeset/HASH/docs/a.md`. With
/// the commit in the query, what comes behind the view.
fn path_behind<'p>(path: &'p str, view: &str) -> Option<&'p str> {
    let mut segments = path.split('/').skip_while(|segment| *segment != view).skip(1);
    if view == "changeset" {
        let number = segments.next()?;
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_number {
            return None;
        }
    }
    segments.next().filter(|segment| !segment.is_empty())
}

fn is_hash(text: &str) -> bool {
    hash_at(text) == Some("")
}

/// What follows the name of a commit that a text begins with: git's whole ones, Mercurial's short.
fn hash_at(text: &str) -> Option<&str> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = text.bytes().take_while(is_digit).count();
    matches!(digits, 12 | 40 | 64).then(|| &text[digits..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "5145c449be18b11a4794403f5151668fc192d18b";

    fn is_view(url: &str) -> bool {
        let url = url.replace("SHA", HASH);
        let (path, query) = url.split_once('?').map_or((&url[..], None), |(p, q)| (p, Some(q)));
        is_of_commit(path, query)
    }

    #[test]
    fn a_repository_as_of_one_commit_is_told_from_its_commits_and_from_what_it_is_now() {
        let views = [
            "/?p=made.git;a=tree;h=SHA;hb=SHA",
            "/?p=made.git;a=blob;f=docs/b.md;h=SHA;hb=SHA",
            "/?p=made.git;a=blob;f=docs/b.md;h=SHA",
            "/?p=made.git;a=history;f=src;hb=SHA",
            "/?p=made.git;a=shortlog;h=SHA",
            "/?p=made.git;a=search;h=SHA;s=Ann+Ox;st=author",
            "/?p=made.git&a=commitdiff&h=SHA&hp=SHA",
            "/?p=made.git;a=commitdiff;h=SHA;ds=sidebyside",
            "/?p=made.git;a=commitdiff_plain;h=SHA",
            "/?p=made.git;a=commit;f=src;h=SHA",
            "/?p=made.git;a=blob_plain;f=README.md;hb=HEAD",
            "/?p=made.git;a=blame;f=README.md;h=SHA;hb=HEAD",
            "/?p=made.git;a=tree;f=src;h=SHA;hb=refs/heads/topic",
            "/?p=made.git;a=shortlog;h=refs/tags/v1",
            "/gitweb/made.git/blob/SHA:/docs/b.md",
            "/made.git/tree/?id=SHA",
            "/made.git/tree/docs/b.md?id=SHA",
            "/made.git/diff/?id=SHA&id2=SHA",
            "/made.git/commit/docs/b.md?id=SHA",
            "/made.git/tree/docs?h=topic",
            "/made.git/log/docs?h=topic&ofs=50",
            "/made.git/log/?ofs=50&showmsg=1",
            "/made.git/commit/?h=topic&id=SHA",
            "/made.git/plain/docs/b.md",
            "/made.git/atom/docs/b.md?h=main",
            "/made.git/blame/docs/b.md",
            "/browser/docs?rev=5",
            "/log/docs?rev=SHA",
            "/export/SHA/README.md",
            "/changeset/SHA/docs/b.md",
            "/changeset/17/trunk",
            "/hg/file/0f3a81e0b9cc/src/",
            "/hg/annotate/0f3a81e0b9cc/src/a.c",
            "/hg/raw-rev/0f3a81e0b9cc",
            "/ann/made/src/commit/SHA/docs",
            "/ann/made/commit/SHA.patch",
            "/ann/made/blob/SHA/docs/b.md",
            "/ann/made/-/tree/SHA",
            "/ann/made/compare/SHA...SHA",
            "/viewvc/a.c?r1=1.2&r2=1.3",
            "/viewvc/a.c?revision=1.2&view=markup",
        ];
        for view in views {
            assert!(is_view(view), "{view}");
        }
        let pages = [
            "/?p=made.git;a=commit;h=SHA",
            "/?p=made.git;a=commitdiff;h=SHA",
            "/?p=made.git;a=tag;h=SHA",
            "/?p=made.git;a=tree",
            "/?p=made.git;a=blob;f=README.md;h=SHA;hb=HEAD",
            "/?p=made.git;a=shortlog;pg=3",
            "/?p=made.git;a=shortlog;h=refs/heads/topic",
            "/?a=search&p=trousers",
            "/shop?a=blame&h=5",
            "/made.git/commit/?id=SHA",
            "/made.git/log/?ofs=50",
            "/made.git/log/?h=topic-1",
            "/made.git/log/docs/b.md",
            "/made.git/",
            "/made.git/tag/?h=v1",
            "/made.git/atom/?h=main",
            "/plain/words?h=1",
            "/made.git/tree/docs/b.md",
            "/changeset/SHA/",
            "/changeset/17",
            "/browser/docs",
            "/hg/rev/0f3a81e0b9cc",
            "/hg/file/tip/src/",
            "/ann/made/commit/SHA",
            "/ann/made/blob/main/docs/b.md",
            "/file/SHA",
            "/raw/SHA",
            "/objects/SHA/detail",
            "/list?id=SHA",
            "/article?rev=3",
            "/tree/oak",
            "/a?view=5",
        ];
        for page in pages {
            assert!(!is_view(page), "{page}");
        }
    }
}
